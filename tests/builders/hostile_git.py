"""A checkout whose settings name a program for everything that git may start one for; each run leaves a marker."""

from pathlib import Path
from typing import Final

from tests.builders.git import committed, git

HOOKS: Final = ("post-index-change", "reference-transaction", "post-checkout", "pre-auto-gc", "fsmonitor-watchman")
PROGRAMS: Final = (
    *("core.fsmonitor", "core.sshCommand", "core.gitProxy", "core.pager", "core.editor", "core.askPass"),
    *("core.alternateRefsCommand", "gpg.program", "gpg.ssh.program", "gpg.x509.program", "sequence.editor"),
    *("diff.external", "diff.odd.command", "diff.odd.textconv", "interactive.diffFilter", "merge.odd.driver"),
    *("filter.odd.clean", "filter.odd.smudge", "filter.other.one.clean", "filter.stream.process"),
    *("pager.log", "pager.diff", "pager.status", "pager.config", "tar.tar.command", "tar.tar.gz.command"),
    *("uploadpack.packObjectsHook", "remote.origin.uploadpack", "remote.origin.receivepack", "trailer.x.command"),
)
"""Settings that hold a command line."""
SETTINGS: Final = {
    "core.repositoryformatversion": "1",
    "credential.helper": "!{program}",
    "diff.submodule": "diff",
    "extensions.partialClone": "origin",
    "fetch.recurseSubmodules": "true",
    "filter.odd.required": "true",
    "filter.stream.required": "false",
    "include.path": "more.inc",
    "log.diffMerges": "remerge",
    "log.showSignature": "true",
    "merge.default": "odd",
    "protocol.allow": "always",
    "protocol.ext.allow": "always",
    "protocol.file.allow": "always",
    "remote.origin.promisor": "true",
    "remote.origin.url": "ext::{program}",
    "status.submoduleSummary": "true",
    "submodule.recurse": "true",
}
ATTRIBUTES: Final = """*.py filter=odd diff=odd merge=odd
*.txt filter=other.one
*.inc filter=included
"""


def a_hostile_checkout(root: Path, markers: Path, *, more_attributes: str = "*.cfg filter=stream\n") -> Path:
    """A repository with a merge, a signed commit, a submodule and changed files."""
    markers.mkdir(parents=True, exist_ok=True)
    root.mkdir(parents=True)
    programs = Programs(markers)
    git(root, "init", "--quiet", "--initial-branch=main")
    names = ("cart.py", "notes.txt", "app.cfg", "a.inc", "prompt.md")
    _write(root, names, "one = 1\n")
    committed(root, "start")
    git(root, "checkout", "--quiet", "-b", "side")
    _write(root, ("cart.py",), "one = 2\n")
    committed(root, "side")
    git(root, "checkout", "--quiet", "main")
    _write(root, ("app.cfg",), "one = 3\n")
    committed(root, "main")
    git(root, "merge", "--quiet", "--no-edit", "side")
    _sign(root)
    _add_submodule(root, programs)
    (root / ".gitattributes").write_text(ATTRIBUTES + more_attributes)
    _write(root, names, "one = 4 # changed\n")
    _name_programs(root / ".git", programs)
    included = f'[filter "included"]\n\tclean = {programs.named("included-clean")}\n\trequired = true\n'
    (root / ".git" / "more.inc").write_text(included)
    return root


def ran(markers: Path) -> list[str]:
    """What was started."""
    return sorted(path.name for path in markers.glob("ran-*"))


def lose(root: Path, name: str) -> None:
    """Remove the content of a file of the last commit, as a partial clone lacks it."""
    found = git(root, "rev-parse", f"HEAD:{name}").stdout.strip()
    (root / ".git" / "objects" / found[:2] / found[2:]).unlink()


class Programs:
    """Programs that leave a marker in a folder when they are started; a filter gives back what it is given."""

    def __init__(self, markers: Path) -> None:
        self._markers = markers

    def named(self, name: str) -> Path:
        """The program that leaves the marker `ran-NAME`."""
        program = self._markers / "programs" / name
        program.parent.mkdir(exist_ok=True)
        answer = "exec timeout 5 cat" if name.endswith(("clean", "smudge")) else ""
        program.write_text(f'#!/bin/sh\ntouch "{self._markers}/ran-{name}"\n{answer}\n')
        program.chmod(0o755)
        return program


def _name_programs(folder: Path, programs: Programs) -> None:
    """Write the settings by hand: git itself would obey them from the first one on."""
    lines = []
    for name, value in {**dict.fromkeys(PROGRAMS, ""), **SETTINGS}.items():
        section, _, key = name.rpartition(".")
        first, _, rest = section.partition(".")
        lines.append(f'[{first} "{rest}"]' if rest else f"[{first}]")
        lines.append(f"\t{key} = {value.format(program=programs.named(name)) or programs.named(name)}")
    hooks = folder / "evil-hooks"
    with (folder / "config").open("a") as config:
        config.write("\n".join([*lines, "[core]", f"\thooksPath = {hooks}", ""]))
    hooks.mkdir()
    for name in HOOKS:
        (hooks / name).symlink_to(programs.named(f"hook-{name}"))


def _add_submodule(root: Path, programs: Programs) -> None:
    module = root / "module"
    module.mkdir()
    git(module, "init", "--quiet")
    _write(module, ("part.py",), "part = 1\n")
    committed(module, "start")
    committed(root, "a submodule")
    (module / ".gitattributes").write_text("*.py filter=inner\n")
    _write(module, ("part.py",), "part = 2 # changed\n")
    settings = (
        f'[filter "inner"]\n\tclean = {programs.named("submodule-clean")}\n'
        f"[core]\n\tfsmonitor = {programs.named('submodule-monitor')}\n"
    )
    with (module / ".git" / "config").open("a") as config:
        config.write(settings)


def _sign(root: Path) -> None:
    """A commit that says it is signed."""
    header, _, message = git(root, "cat-file", "commit", "HEAD").stdout.partition("\n\n")
    parent = git(root, "rev-parse", "HEAD").stdout.strip()
    tree = header.splitlines()[0]
    people = [line for line in header.splitlines() if line.startswith(("author", "committer"))]
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n AAAA\n -----END PGP SIGNATURE-----"
    text = "\n".join([tree, f"parent {parent}", *people, signature, "", message or "signed\n"])
    (root / ".git" / "signed").write_text(text)
    made = git(root, "hash-object", "-t", "commit", "-w", ".git/signed").stdout.strip()
    git(root, "reset", "--quiet", "--hard", made)


def _write(root: Path, names: tuple[str, ...], content: str) -> None:
    for name in names:
        (root / name).write_text(content)

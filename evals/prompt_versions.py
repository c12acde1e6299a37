"""Prompts that a variant names: by version, by file, with hunks of the way to another one, or as of a git revision.

A prompt is called by the name of its file, without the ending (`prompts/clerk.md`: `clerk`), or of the folder that its
versions stand in (`prompts/desk/v1.md`: `desk`). A file may have versions in a folder of its name beside it.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Self

from unidiff.patch import PatchSet

from evals.application_pack import Pack
from evals.errors import ConfigurationError, nearest_name
from evals.models.run import Baseline, EarlierPrompt, EditedPrompt, VariantInfo
from evals.models.suite import EVERY_PROMPT
from evals.project import FILE
from evals.prompt_hunks import HunkSpec
from evals.safe_yaml import read_text
from evals.shared.git_command import DistrustError, GitError, NoGitError, git


@dataclass(frozen=True)
class NamedPrompt:
    """One prompt of a variant: the graph gets `text` for the file at `path`, which is from the root. `version` is what
    the graph has to be told where there is no file but only a folder of versions; `spec` is what the suite says."""

    name: str
    spec: str
    path: str
    text: str
    version: str = ""


def named_prompts(
    prompts: Mapping[str, str], files: Sequence[Path], root: Path, told: Mapping[str, object]
) -> tuple[NamedPrompt, ...]:
    """The prompts that a variant names in `prompts`, sorted by path. `files` are all prompt files below `root`; `told`
    are versions that the variant names elsewhere.

    Raises:
        ConfigurationError: no such prompt, version, file or revision.
    """
    found: dict[str, NamedPrompt] = {}
    if EVERY_PROMPT in prompts:
        found = {one.path: one for one in _every(prompts[EVERY_PROMPT], files, root)}
    for name, spec in prompts.items():
        if name != EVERY_PROMPT:
            one = _named(name, spec, files, root, told)
            found[one.path] = one
    return tuple(found[path] for path in sorted(found))


def _every(spec: str, files: Sequence[Path], root: Path) -> list[NamedPrompt]:
    """All files as of a revision. Raises ConfigurationError where one of them is not in it, or there is none: the graph
    would read the working tree's, and be compared with itself."""
    revision = spec.removeprefix(PREFIX)
    if not spec.startswith(PREFIX) or ":" in revision:
        raise ConfigurationError(f"prompts: {spec}: for all prompts at once write git:REV, else NAME: VERSION")
    commit_of(root, revision)
    paths = {file.relative_to(root).as_posix(): file.stem for file in files}
    whole = f"to compare whole revisions, write a variant with `revision: {revision}`"
    if not paths:
        raise ConfigurationError(f"{FILE} names no prompt files in `prompts`; {whole}")
    try:
        return [NamedPrompt(name, spec, path, text_at(root, revision, path)) for path, name in paths.items()]
    except ConfigurationError as error:
        raise ConfigurationError(f"{error}; {whole}") from error


def _named(name: str, spec: str, files: Sequence[Path], root: Path, told: Mapping[str, object]) -> NamedPrompt:
    own = [file for file in files if name in (file.stem, file.relative_to(root).as_posix())]
    versions = {file.stem: file for file in files if file.parent.name == name}
    if len(own) > 1:
        paths = " and ".join(file.relative_to(root).as_posix() for file in own)
        raise ConfigurationError(f"prompt {name!r} is {paths}; write one of these paths")
    if not own and not versions:
        known = sorted({file.stem for file in files} | {file.parent.name for file in files})
        hint = nearest_name(name, known) or f"; there are {', '.join(known) or 'none: name their files in `prompts`'}"
        raise ConfigurationError(f"there is no prompt {name!r} among the prompt files{hint}")
    if hunks := HunkSpec.parse(spec):
        sides = [_named(name, side, files, root, told) for side in (hunks.old, hunks.new)]
        base = sides[hunks.sign == "-"]
        return replace(base, spec=spec, text=hunks.text(sides[0].text, sides[1].text))
    if spec.startswith(PREFIX):
        return _at_revision(name, spec, own, versions, root, told)
    file = versions.get(spec) or root / spec
    if not file.is_file():
        has = f"it has {', '.join(versions)}" if versions else "name a file, git:REV, or put versions into a folder"
        raise ConfigurationError(f"prompt {name!r} has no version {spec!r}; {has}")
    version = "" if own else spec if spec in versions else next(iter(versions))  # in place of the first one
    place = own[0] if own else versions[version]
    text = read_text(file)
    return NamedPrompt(name, spec, place.relative_to(root).as_posix(), text, version)


def _at_revision(
    name: str, spec: str, own: Sequence[Path], versions: Mapping[str, Path], root: Path, told: Mapping[str, object]
) -> NamedPrompt:
    revision, _, what = spec.removeprefix(PREFIX).partition(":")
    if not revision:
        raise ConfigurationError(f"{spec}: names no revision; write git:REV, or git:REV:VERSION")
    version = what or str(told.get(name) or "")
    if not own and not version:
        raise ConfigurationError(f"prompt {name!r} is a folder of versions; write {spec}:{next(iter(versions))}")
    example = own[0] if own else next(iter(versions.values()))
    folder = next(iter(versions.values())).parent if versions else example.with_suffix("")
    asked = root / what if "/" in what else folder / f"{version}{example.suffix}"
    source = (own[0] if own and not what else asked).relative_to(root).as_posix()
    text = text_at(root, revision, source)
    if own:
        return NamedPrompt(name, spec, own[0].relative_to(root).as_posix(), text)
    return NamedPrompt(name, spec, source, text, asked.stem)


Stretch = tuple[str, int, int]
"""(path from the checkout's root, first changed line, last changed line), lines of the file as it is now."""


def changed_lines(infos: Iterable[VariantInfo], root: Path, base: str, pack: Pack) -> tuple[Stretch, ...]:
    """Changed stretches of the shipped prompts and of the variants' own files, since this branch left `base`.

    Where lines only went, the line that stands there now. Empty without git, repository or revision: an annotation is
    an extra, and nothing fails for the lack of one.
    """
    files = sorted({pack.prompt_folder, *(info.prompt_source for info in infos if info.prompt_source.endswith(".md"))})
    fork = fork_of(root, base)
    if not fork:
        return ()
    words = ("diff", "--unified=0", "--no-color", "--relative", "--src-prefix=a/", "--dst-prefix=b/")
    patch = _told(root, *words, fork, "--", *files)
    return tuple(_stretches(PatchSet(patch)))


def fork_of(root: Path, base: str) -> str:
    """The commit at which this branch left `base`; empty where there is none."""
    return _told(root, "merge-base", "--end-of-options", base, "HEAD").strip()


def edited_files(root: Path, base: str) -> tuple[str, ...]:
    """The files, from `root`, whose content differs from that of the fork with `base`; empty where git cannot tell."""
    fork = fork_of(root, base)
    return tuple(_told(root, "diff", "--name-only", "--relative", fork, "--").splitlines()) if fork else ()


def usual_base() -> str:
    """Where changes are counted from: the base of the pull request on GitHub, elsewhere the last commit."""
    base = os.environ.get("GITHUB_BASE_REF")
    return f"origin/{base}" if base else "HEAD"


def _stretches(patch: PatchSet) -> Iterable[Stretch]:
    for file in patch:
        if not file.is_removed_file and file.path.endswith(".md"):
            for hunk in file:
                first = max(hunk.target_start, 1)
                yield file.path, first, first + max(hunk.target_length, 1) - 1


def _told(root: Path, *words: str) -> str:
    """What git prints; nothing if it cannot."""
    try:
        return git(root, *words).decode("utf-8", errors="replace")
    except GitError:
        return ""


PREFIX: Final = "git:"


@dataclass(frozen=True)
class PromptRevision:
    """`git:REV:WHAT`: a revision, and a prompt version or the path of a `.md` file in it, from the checkout's root."""

    revision: str
    what: str
    versions: str = ""
    """The folder of the versions, from the checkout's root."""

    @classmethod
    def parse(cls, spec: str, otherwise: str, pack: Pack) -> Self:
        """The revision that `spec` names; `git:REV` alone means the prompt `otherwise`.

        Raises:
            ConfigurationError: no revision is named.
        """
        revision, _, what = spec.removeprefix(PREFIX).partition(":")
        if not revision:
            raise ConfigurationError(
                f"{spec}: names no revision; write git:REV, git:REV:v3 or git:REV:path/to/prompt.md"
            )
        return cls(revision, what or otherwise, pack.version_folder)

    @property
    def name(self) -> str:
        """What reports call it."""
        return f"{self.what}@{self.revision}"

    @property
    def path(self) -> str:
        """The file, from the checkout's root."""
        return self.what if self.what.endswith(".md") else f"{self.versions}/{self.what}.md"

    def read(self, root: Path) -> str:
        """The text of the file as of the revision.

        Raises:
            ConfigurationError: no git, no repository, no such revision, or no such file in it.
        """
        return text_at(root, self.revision, self.path)


def commit_of(root: Path, revision: str) -> str:
    """The commit that a revision names. Raises ConfigurationError: no git, no repository, or no such revision."""
    _told_revision(root, "rev-parse", "--git-dir", otherwise=f"{root} is no git repository; name a prompt file instead")
    return _told_revision(
        root,
        *("rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}"),
        otherwise=f"{PREFIX}{revision}: no such revision; `git log --oneline` lists them",
    ).strip()


def text_at(root: Path, revision: str, path: str) -> str:
    """The text of a file, whose path is from `root`, as of a revision. Raises ConfigurationError as `commit_of`, or if
    the revision does not have the file."""
    missing = f"{PREFIX}{revision}: there is no {path} in that revision"
    return _told_revision(root, "cat-file", "blob", f"{commit_of(root, revision)}:./{path}", otherwise=missing)


def _told_revision(root: Path, *words: str, otherwise: str) -> str:
    """What git prints; if it fails, the error says `otherwise`."""
    try:
        return git(root, *words).decode("utf-8")
    except NoGitError as error:
        raise ConfigurationError("git is not installed; name a prompt file instead of a revision") from error
    except DistrustError as error:
        raise ConfigurationError(f"{root}: {error}") from error
    except GitError as error:
        raise ConfigurationError(otherwise) from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{words[-1]}: not UTF-8 at byte {error.start}") from error


def with_committed(infos: Sequence[VariantInfo], root: Path, base: str, pack: Pack) -> tuple[VariantInfo, ...]:
    """The variants, those whose prompt file changed since this branch left `base` with the text from before.

    Without git, repository or revision, and where the old file holds no prompt, nothing is known: an old text is an
    extra, and nothing fails for the lack of one.
    """
    changed = {path for path, _, _ in changed_lines(infos, root, base, pack)}
    fork = fork_of(root, base) if changed else ""
    return tuple(
        _told_prompt_committed(info, root, fork, pack) if info.prompt_source in changed else info for info in infos
    )


def _told_prompt_committed(info: VariantInfo, root: Path, fork: str, pack: Pack) -> VariantInfo:
    spec = f"{PREFIX}{fork}:{info.prompt_source}"
    try:
        text = PromptRevision.parse(spec, info.prompt_source, pack).read(root)
        before = pack.prompt_text(text, spec)
    except ConfigurationError:
        return info
    earlier = EarlierPrompt(since="committed", text=before)
    return info if before == info.prompt_text else info.model_copy(update={"earlier": earlier})


def worker_prompts(infos: Sequence[VariantInfo], root: Path, pack: Pack) -> dict[str, tuple[str, ...]]:
    """Path -> lines of the prompts that belong to no variant, without other versions of a variant's own prompt."""
    own = {Path(info.prompt_source).parent for info in infos if info.prompt_source}
    found = ((Path(file.path), file) for file in pack.worker_prompts(root))
    return {file.path: file.lines for path, file in found if path.parent not in own and not path.stem.isupper()}


def edited_prompts(
    infos: Sequence[VariantInfo], root: Path, base: str, pack: Pack, baseline: Baseline | None
) -> tuple[EditedPrompt, ...]:
    """Those of `worker_prompts` that were edited since they were blessed; where that is not known, since this branch
    left `base`."""
    changed = {path for path, _, _ in changed_lines(infos, root, base, pack)}
    blessed = baseline.worker_prompts if baseline else {}
    found = []
    for path, lines in worker_prompts(infos, root, pack).items():
        if path in blessed:
            earlier = EarlierPrompt(since="blessed", text="\n".join(blessed[path]))
        elif path in changed:
            before = _told(root, "cat-file", "blob", f"{fork_of(root, base)}:./{path}")
            earlier = EarlierPrompt(since="committed", text=before)
        else:
            continue
        if earlier.text and tuple(earlier.text.splitlines()) != lines:
            found.append(EditedPrompt(path=path, text="\n".join(lines), earlier=earlier))
    return tuple(found)

"""`evals cassette`: options of the group; show, verify, tidy."""

import io
import json
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.text import Text

from evals.cassettes import manifest
from evals.cassettes.cassette_changes import Change, changes, described
from evals.cassettes.cassette_data import Cassette, Interaction
from evals.cassettes.cassette_files import load, merge_write, read_any
from evals.cassettes.manifest_lines import NAME
from evals.cassettes.transcript import transcript
from evals.cli.options import AsJson, given
from evals.cli.terminal import VisibleConsole
from evals.errors import (
    EXIT_CANNOT_JUDGE,
    EXIT_OK,
    CannotJudgeError,
    CassetteError,
    ConfigurationError,
    SecretFoundError,
)
from evals.pipeline.load_suite import below, cassette_path, recorded
from evals.recording.coverage import label_of
from evals.shared.git_command import GitError, NoGitError, git
from evals.workspace import Workspace

cassette = typer.Typer(help="Read, check and tidy cassettes (recorded answers).", no_args_is_help=True)


@cassette.command("show")
def cassette_show_command(
    context: typer.Context,
    case: Annotated[str | None, typer.Argument(metavar="[CASE]", help="A case, or a cassette file.")] = None,
    variant: Annotated[str | None, typer.Option(help="This variant's trial, in the order of its requests.")] = None,
    agent: Annotated[str | None, typer.Option(help="Only the requests of this agent.")] = None,
    suite: Annotated[str | None, typer.Option(help="Suite of --variant, or of the trials listed.")] = None,
    against: Annotated[
        str | None, typer.Option(metavar="OTHER", help="Print changes since a file, a git revision, or REV..REV.")
    ] = None,
    plain: Annotated[bool, typer.Option("--plain", help="Print any file as plain text (for git's textconv).")] = False,
    as_json: AsJson = False,
) -> int:
    """Print a cassette as a conversation: agent, prompt, answer, tokens.

    Without CASE: how far each trial is recorded; age, size and models of each cassette; answers that no suite uses.
    """
    common = given(context, dataset=True)
    if case is None:
        from evals.cli.cassette_upkeep import status

        _refuse_without_case(variant=variant, agent=agent, against=against, plain=plain)
        today = datetime.now(UTC).date()
        return status(suite, common.root, jobs=common.jobs, today=today, as_json=as_json, dataset=common.dataset)
    if as_json:
        raise ConfigurationError("--json: of the list of all cassettes; leave CASE or --json out")
    if plain:
        return text(Path(case))
    if against is not None:
        return diff(against, case, common.root, dataset=common.dataset)
    return show(case, common.root, variant=variant, agent=agent, suite=suite, dataset=common.dataset)


@cassette.command("verify")
def cassette_verify_command(
    context: typer.Context,
    case: Annotated[list[str] | None, typer.Argument(metavar="[CASE]...", help="Only these cases.")] = None,
    as_json: AsJson = False,
) -> int:
    """Check schema, counts, keys, digests, secrets, layout and manifest; 3 if anything is wrong."""
    common = given(context, dataset=True)
    workspace = Workspace.at(common.root, common.dataset)
    for name in case or ():
        if not workspace.cassette(name).exists():
            raise ConfigurationError(f"{name}: no cassette of this case; `evals cassette show` lists them")
    found = manifest.verify(workspace.cassettes, case or ()) + manifest.verify(workspace.judge_cassettes, case or ())
    if not found.cassettes and not found.findings:
        raise CannotJudgeError("cassettes/ holds no cassette, so there is nothing to verify; restore it or record")
    messages = [str(finding).replace(f"{workspace.root}/", "") for finding in found.findings]
    if as_json:
        counts = {"cassettes": found.cassettes, "interactions": found.interactions}
        print(json.dumps(counts | {"findings": messages}, indent=2, ensure_ascii=False))
    else:
        print("\n".join([*messages, _summary_cassette_verify(found)]))
    return EXIT_CANNOT_JUDGE if found.findings else EXIT_OK


@cassette.command("tidy")
def cassette_tidy_command(
    context: typer.Context,
    unused: Annotated[bool, typer.Option("--unused", help="Only list answers that no suite uses.")] = False,
    also: Annotated[
        list[str] | None, typer.Option("--also", help="With --unused: keep what this suite file uses.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="With --unused: delete these answers.")] = False,
) -> int:
    """Rewrite cassettes of an older schema in the present one, and rewrite the manifest.

    --unused only lists answers that no suite uses; --yes deletes them. All suites must be fully recorded.
    """
    from evals.cli.cassette_upkeep import migrate, prune

    common = given(context, dataset=True)
    if unused:
        return prune(common.root, also or (), jobs=common.jobs, yes=yes, dataset=common.dataset)
    if also or yes:
        raise ConfigurationError("--also and --yes go with --unused")
    migrate(common.root, dataset=common.dataset)
    workspace = Workspace.at(common.root, common.dataset)
    for folder in filter(Path.is_dir, (workspace.cassettes, workspace.judge_cassettes)):
        print(f"{below(folder, workspace)}/{NAME} lists {manifest.write(folder)} cassettes")
    return EXIT_OK


@cassette.command("adopt")
def cassette_adopt_command(
    context: typer.Context,
    recording: Annotated[Path, typer.Argument(help="A cassette recorded by stock vcrpy or pytest-recording.")],
    case: Annotated[str, typer.Argument(help="The case whose cassette receives the recording.")],
    recorded_by: Annotated[str, typer.Option(help="Who made this recording; stored with every answer.")] = "vcrpy",
) -> int:
    """Import a VCR recording into a case's cassette, redacted and checked like a live one."""
    from evals.cassettes.cassette_changes import stock_interactions

    common = given(context, dataset=True)
    workspace = Workspace.at(common.root, common.dataset)
    if case not in workspace.pack.case_ids(workspace.datasets):
        raise ConfigurationError(f"{case}: there is no such case; `evals dataset new` writes one")
    path = workspace.cassette(case)
    before = len(load(path).interactions)
    found = stock_interactions(recording, recorded_by)
    tree = workspace.pack.load_case(workspace.datasets, case).tree
    after = len(merge_write(path, found, tree=tree, move=manifest.move_listed).interactions)
    print(f"{below(path, workspace)}: {after - before} of {len(found)} interactions are new")
    return EXIT_OK


@cassette.command("merge")
def cassette_merge_command(
    base: Annotated[Path, typer.Argument(help="The common ancestor; may be empty.")],
    ours: Annotated[Path, typer.Argument(help="Our side; the result is written to it.")],
    theirs: Annotated[Path, typer.Argument(help="Their side.")],
    path: Annotated[str, typer.Argument(help="The file's path in git.")],
    prefer: Annotated[str | None, typer.Option(help="Settle conflicts for one side: ours or theirs.")] = None,
) -> int:
    """Merge two branches' recordings of one case: git's merge driver (see `make setup WITH=git`)."""
    from evals.cli.cassette_upkeep import merge

    return merge(base, ours, theirs, path, prefer)


def _summary_cassette_verify(found: manifest.Verified) -> str:
    count = len(found.findings)
    said = f"{count} finding{'s' if count > 1 else ''}" if count else "no findings"
    return f"{found.cassettes} cassettes with {found.interactions} interactions: {said}"


def _refuse_without_case(**options: object) -> None:
    """Raises ConfigurationError for an option about one cassette where none is named."""
    if named := [name for name, value in options.items() if value]:
        raise ConfigurationError(f"--{named[0]}: of one cassette; name its CASE")


def show(
    case: str,
    root: Path,
    *,
    variant: str | None = None,
    agent: str | None = None,
    suite: str | None = None,
    dataset: Path | None = None,
) -> int:
    """Print a cassette in the order of its file, or, with a variant, in the order of its trial. Returns 0.

    Raises:
        ConfigurationError: there is no such case, file, variant or agent.
        CassetteError: the cassette cannot be trusted.
    """
    workspace = Workspace.at(root, dataset)
    cassette = recorded(case, workspace)
    ends = ""
    interactions: tuple[Interaction, ...] = cassette.interactions
    if variant is not None:
        from evals.pipeline.single_trial import in_order, trial, trial_suite

        trace = trial(case, variant, suite or trial_suite(case, variant, workspace), root)
        interactions = in_order(trace, cassette)
        ends = f"{trace.variant} on {case}: {label_of(trace)}, route {' '.join(trace.route) or '(none)'}"
    chosen = [found for found in interactions if agent in {None, found.agent}]
    if not chosen and interactions:
        known = ", ".join(sorted({found.agent for found in interactions}))
        raise ConfigurationError(f"--agent {agent}: asked nothing here; these did: {known}")
    console = VisibleConsole(highlight=False, soft_wrap=True)
    for line in (*transcript(chosen, fold=True), ends or _counted(chosen)):
        console.print(Text(line, style="bold" if line.startswith(("=== ", "[")) else ""))
    return EXIT_OK


def _counted(interactions: list[Interaction]) -> str:
    asked = sum(found.usage.prompt_tokens for found in interactions)
    answered = sum(found.usage.completion_tokens for found in interactions)
    return f"{len(interactions)} interactions, {asked} + {answered} tokens"


_COLOURS = {"+": "green", "-": "red"}


def diff(before: str, after: str, root: Path, *, dataset: Path | None = None) -> int:
    """Print every change. Returns 0, whether there are any or not.

    Raises:
        ConfigurationError: there is no such file, case or revision.
        CassetteError: a side cannot be trusted.
    """
    old, new = _sides(before, after, Workspace.at(root, dataset))
    console = VisibleConsole(highlight=False, soft_wrap=True)
    found = changes(old, new)
    for change in found:
        heading, *lines = described(change)
        console.print(Text(heading, style="bold"))
        for line in lines:
            console.print(Text(f"  {line}", style=_COLOURS.get(line[:1], "")))
    console.print(_summary(found))
    return EXIT_OK


def _sides(before: str, after: str, workspace: Workspace) -> tuple[Cassette, Cassette]:
    """Two files, or a case at a revision and now, or at two revisions (`REV..REV`)."""
    if Path(before).is_file():
        return recorded(before, workspace), recorded(after, workspace)
    old, two, new = before.partition("..")
    path = cassette_path(after, workspace)
    now = _at(new or "HEAD", path, workspace) if two else recorded(after, workspace)
    return _at(old or "HEAD", path, workspace), now


_COMMIT: Final = ("rev-parse", "--verify", "--quiet", "--end-of-options")


def _at(revision: str, path: Path, workspace: Workspace) -> Cassette:
    """The cassette as a revision has it; empty if that has none."""
    name = below(path.resolve(), workspace).as_posix()
    called = Path(f"{revision}:{name}")
    try:
        commit = git(workspace.root, *_COMMIT, f"{revision}^{{commit}}").decode().strip()
        if not git(workspace.root, "ls-tree", "--name-only", commit, "--", name):
            return Cassette(called, exists=False)
        return read_any(git(workspace.root, "cat-file", "blob", f"{commit}:./{name}"), called)
    except GitError as error:
        why = str(error) if error.said or isinstance(error, NoGitError) else "no such commit"
        raise ConfigurationError(
            f"{revision}: neither a cassette file nor a revision ({why}); name one of them"
        ) from error


def _summary(found: list[Change]) -> str:
    if not found:
        return "nothing differs"
    counted = Counter(change.kind for change in found)
    return ", ".join(f"{count} {kind}" for kind, count in sorted(counted.items()))


def text(path: Path) -> int:
    """Print the file as text. Returns 0 also for a file no replay would trust: a converter that fails ends the whole
    `git diff`, so that its text is then the cause and the file as it is; one that holds a secret is withheld.

    Raises:
        ConfigurationError: there is no such file.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read ({error.strerror}); name a cassette file") from error
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")  # git reads UTF-8, whatever the locale
    sys.stdout.writelines(line + "\n" for line in _lines(content, path))
    return EXIT_OK


def _lines(content: bytes, path: Path) -> list[str]:
    try:
        return list(transcript(read_any(content, path).interactions)) if content else []
    except SecretFoundError as error:
        return [f"(withheld) {error}"]
    except CassetteError as error:
        return [f"(as it is) {error}", content.decode(errors="backslashreplace")]

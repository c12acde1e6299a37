"""`evals cassette prune`: drop what nobody asks for, once it is certain that nobody does."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from evals.cassette import manifest
from evals.cassette.store import Interaction, drop, load
from evals.cassette.transcript import SHORT
from evals.cli.terminal.replaying import replayed_suites
from evals.errors import EXIT_OK, CannotJudgeError
from evals.models.trace import Trace
from evals.pipeline.asked import asked_in
from evals.pipeline.recorded import below
from evals.pipeline.select import Selected
from evals.recording.standing import split_by_use, suite_standing
from evals.suites.load import names_on
from evals.workspace import Workspace


def prune(
    root: Path,
    also: Sequence[str] = (),
    *,
    jobs: int,
    yes: bool,
    shipped: Sequence[str] | None = None,
    dataset: Path | None = None,
) -> int:
    """Print what no trial asks for, and no judge of one is asked, and with `yes` drop it. Returns 0.

    Raises:
        CannotJudgeError: a trial of the `shipped` suites, or of those in `also`, is not exact: what it has not asked
            for yet may be just what it needs.
        CassetteError: a cassette cannot be trusted.
    """
    workspace = Workspace.at(root, dataset)
    found = replayed_suites(
        [*(names_on(workspace.dataset_name) if shipped is None else shipped), *also], root, jobs=jobs
    )
    _refuse_incomplete(found)
    dropped = sum(_tidied(folder, asked, workspace, yes=yes) for folder, asked in asked_in(found, workspace).items())
    print(_summary(dropped, done=yes))
    return EXIT_OK


def _tidied(folder: Path, asked: Mapping[str, set[str]], workspace: Workspace, *, yes: bool) -> int:
    """How many interactions of the cassettes in `folder` nobody asks for; with `yes` they are gone."""
    dropped = 0
    for path in sorted(folder.glob("*.yaml")):
        _, unused = split_by_use(load(path), asked.get(path.stem, set()))
        for interaction in unused:
            print(f"{below(path, workspace)}: {_named(interaction)}")
        dropped += len(unused)
        if yes and unused and not drop(path, {(gone.key, gone.sample) for gone in unused}).interactions:
            path.unlink()  # nothing of the case is asked for any more
    if yes and dropped:
        manifest.write(folder)
    return dropped


def _refuse_incomplete(found: Sequence[tuple[Selected, tuple[Trace, ...]]]) -> None:
    short = [
        f"{chosen.suite.name}: {variant} ({count})"
        for chosen, traces in found
        for variant, count in suite_standing(chosen.suite.name, traces).incomplete.items()
    ]
    if short:
        raise CannotJudgeError(
            f"nothing was pruned: not every trial is exact, so what is unused is not known. Cases that are not, by "
            f"suite and variant: {', '.join(short)}; `evals plan SUITE` says what they miss"
        )


def _named(found: Interaction) -> str:
    sample = f" sample {found.sample}" if found.sample else ""
    return f"{found.agent} {found.key[:SHORT]}{sample}, answered by {found.model} on {found.recorded_at[:10]}"


def _summary(count: int, *, done: bool) -> str:
    if not count:
        return "nothing is unused"
    return f"{count} interactions {'dropped' if done else 'would go; `evals cassette prune --yes` drops them'}"

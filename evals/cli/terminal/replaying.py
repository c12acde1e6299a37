"""Replay with a progress bar."""

from collections.abc import Sequence
from pathlib import Path

from evals.cli.terminal.progress import bar
from evals.models.trace import Trace
from evals.pipeline.options import Options
from evals.pipeline.replay import replay, size
from evals.pipeline.select import Selected, selected
from evals.runner.pool import Trials
from evals.runner.scheduler import LOCAL
from evals.runner.share import WHOLE, Share
from evals.runner.task import TRIAL_TIMEOUT


def replayed(
    chosen: Selected,
    *,
    jobs: int,
    fresh: bool = False,
    trial_timeout: float = TRIAL_TIMEOUT,
    share: Share = WHOLE,
    scheduler: str = LOCAL,
) -> Trials:
    """All trials of the share, as `replay` gives them."""
    with bar(f"replaying {chosen.suite.name}", size(chosen, share)) as progress:

        def done(trace: Trace, *, reused: bool) -> None:
            progress.step(f"{trace.case_id} {trace.variant}: {trace.provenance}{' (reused)' if reused else ''}")

        return replay(
            chosen,
            jobs=jobs,
            fresh=fresh,
            trial_timeout=trial_timeout,
            share=share,
            scheduler=scheduler,
            progress=done,
        )


def replayed_suites(suites: Sequence[str], root: Path, *, jobs: int) -> list[tuple[str, tuple[Trace, ...]]]:
    """Every suite's name with its traces; unchanged trials are reused. A copy of a suite may still bear its name.

    Raises:
        CannotJudgeError: a suite selects no case.
    """
    chosen = [selected(name, root, Options()) for name in suites]
    return [(each.suite.name, replayed(each, jobs=jobs).traces) for each in chosen]

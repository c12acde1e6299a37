"""Replay: every trial of a selection, offline, none twice."""

from evals.models.trace import Trace
from evals.pipeline.select import Selected
from evals.runner.pool import Progress, Trials, run_trials
from evals.runner.scheduler import LOCAL, scheduled
from evals.runner.share import WHOLE, Share
from evals.runner.task import TRIAL_TIMEOUT


def unwatched(trace: Trace, *, reused: bool) -> None:
    """Progress that nobody follows."""


def replay(
    chosen: Selected,
    *,
    jobs: int,
    fresh: bool = False,
    trial_timeout: float = TRIAL_TIMEOUT,
    share: Share = WHOLE,
    scheduler: str = LOCAL,
    progress: Progress = unwatched,
) -> Trials:
    """All trials of the share; `progress` is told of each.

    Args:
        chosen: cases and variants.
        jobs: worker processes; 1 runs in this one.
        fresh: run everything, also what is unchanged.
        trial_timeout: seconds after which a trial has failed.
        share: which of the trials.
        scheduler: `local`, or `dask://HOST:PORT`.
        progress: called once per trial, as they come.

    Raises:
        ConfigurationError: the scheduler cannot be reached.
    """
    return run_trials(
        chosen.suite,
        chosen.cases,
        chosen.variants,
        chosen.workspace,
        jobs=jobs,
        fresh=fresh,
        progress=progress,
        trial_timeout=trial_timeout,
        share=share,
        elsewhere=scheduled(scheduler, chosen.workspace),
    )


def size(chosen: Selected, share: Share = WHOLE) -> int:
    """How many trials the share has."""
    return share.size(len(chosen.cases) * chosen.suite.samples) * len(chosen.variants)

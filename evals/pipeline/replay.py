"""Replay: every trial of a selection, offline, none twice."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from evals.models.trace import Trace
from evals.pipeline.select import Selected
from evals.recording.standing import label_of
from evals.runner.pool import Progress, TrialId, Trials, run_trials, trial_id
from evals.runner.scheduler import LOCAL, scheduled
from evals.runner.share import WHOLE, Share
from evals.runner.task import TRIAL_TIMEOUT


def unwatched(trace: Trace, *, reused: bool, total: int) -> None:
    """Progress that nobody follows."""


def replay(
    chosen: Selected,
    *,
    jobs: int = 1,
    fresh: bool = False,
    trial_timeout: float = TRIAL_TIMEOUT,
    share: Share = WHOLE,
    scheduler: str = LOCAL,
    progress: Progress = unwatched,
    meanwhile: Callable[[], object] | None = None,
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
        meanwhile: done in a process beside the workers, if there are any.

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
        meanwhile=meanwhile,
    )


def size(chosen: Selected, share: Share = WHOLE) -> int:
    """How many trials the share has."""
    return share.size(len(chosen.cases) * chosen.suite.samples) * len(chosen.variants)


def begun(chosen: Selected) -> Selected:
    """The cases that anything is recorded of: only their trials can replay."""
    return replace(chosen, cases=[case for case in chosen.cases if chosen.workspace.cassette(case.id).exists()])


def proven(traces: Iterable[Trace]) -> set[TrialId]:
    """The trials that these traces, of a replay, show to be wholly on tape: nothing of them is left to record."""
    return {trial_id(trace) for trace in traces if label_of(trace) == "exact"}

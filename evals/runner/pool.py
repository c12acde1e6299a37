"""All trials of a suite, or a share of them, in as many processes as there are cores."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Protocol

from evals.kept import digest_of
from evals.models.case import Case
from evals.models.run import VariantInfo
from evals.models.shared import Shared
from evals.models.suite import Suite
from evals.models.trace import Trace
from evals.runner.cache import TraceCache
from evals.runner.case import read_ahead, run_case
from evals.runner.digests import code_digest, digest_of_replaced
from evals.runner.origin import origin
from evals.runner.share import WHOLE, Share
from evals.runner.task import TRIAL_TIMEOUT, CaseTask, lost
from evals.runner.workers import beside, run_tasks
from evals.workspace import Workspace

TrialId = tuple[str, str, int]
"""Case, variant and sample."""

Execute = Callable[[Sequence[CaseTask]], Iterable[list[Trace]]]
"""Runs tasks, in any order, and gives the traces of each."""


class Progress(Protocol):
    """Told of every finished trial."""

    def __call__(self, trace: Trace, *, reused: bool, total: int) -> None:
        """One more of `total` is there; `reused` when the cache had it."""


@dataclass(frozen=True)
class Trials:
    """What a suite's trials gave, in order of case, variant and sample."""

    traces: tuple[Trace, ...]
    reused: int
    digests: tuple[str, ...] = ()
    """What each trace is stored under, in the same order."""


def run_trials(
    suite: Suite,
    cases: Sequence[Case],
    variants: Sequence[VariantInfo],
    workspace: Workspace,
    *,
    jobs: int,
    fresh: bool,
    progress: Progress,
    trial_timeout: float = TRIAL_TIMEOUT,
    share: Share = WHOLE,
    elsewhere: Execute | None = None,
    meanwhile: Callable[[], object] | None = None,
) -> Trials:
    """Run or reuse every trial of the share.

    Args:
        suite: gives the number of samples.
        cases: what to run on.
        variants: what to run, each with its prompt's digest.
        workspace: where cassettes and caches are.
        jobs: worker processes; 1 runs in this process, where a trial that blocks it is not ended.
        fresh: run everything, whatever the cache holds.
        progress: told of every finished trial.
        trial_timeout: seconds after which a trial has failed.
        share: which of the trials.
        elsewhere: runs them in place of the processes of this machine.
        meanwhile: done beside the worker processes, in one more; where there are none it is not done at all.
    """
    store = TraceCache(workspace.cache / "trials")
    digests = trial_digests(suite, cases, variants, workspace, share)
    found: dict[TrialId, Trace] = {}
    shared = Shared()
    here = elsewhere is None and jobs > 1
    if here and (fresh or store.may_lack(digests.values())):
        origin()  # it loads while what is known is read
    for trial, digest in {} if fresh else digests.items():
        trace = store.get(digest)
        if trace is not None:
            found[trial] = shared.trace(trace)
            progress(trace, reused=True, total=len(digests))
    reused = len(found)
    left = {trial: digest for trial, digest in digests.items() if trial not in found}
    tasks = list(_tasks(suite, cases, variants, workspace, left, trial_timeout))
    if here:
        read_ahead(tasks)
    with beside(meanwhile) if meanwhile and here and tasks else nullcontext():
        for trace in (trace for traces in (elsewhere or _here(jobs))(tasks) for trace in traces):
            trial = trial_id(trace)
            found[trial] = shared.trace(trace)
            store.put(digests[trial], trace)
            progress(trace, reused=False, total=len(digests))
    return Trials(tuple(found[trial] for trial in digests), reused, tuple(digests.values()))


def trial_id(trace: Trace) -> TrialId:
    """The trial a trace is of."""
    return trace.case_id, trace.variant, trace.sample


def trial_digests(
    suite: Suite,
    cases: Sequence[Case],
    variants: Sequence[VariantInfo],
    workspace: Workspace,
    share: Share = WHOLE,
) -> dict[TrialId, str]:
    """What each trial of the share is stored under, in order of case, variant and sample."""
    return {
        (case.id, info.variant.name, sample): trial_digest(case, info, sample, suite.samples, workspace)
        for number, case in enumerate(cases)
        for info in variants
        for sample in range(suite.samples)
        if share.has(number * suite.samples + sample)
    }


def trial_digest(case: Case, info: VariantInfo, sample: int, samples: int, workspace: Workspace) -> str:
    """What a trial's trace is stored under: everything it depends on."""
    return digest_of(
        case.digest.encode(),
        info.variant.model_dump_json().encode(),
        info.prompt_digest.encode(),
        f"{sample} of {samples}".encode(),
        digest_of_replaced(workspace.cassette(case.id)).encode(),
        digest_of_replaced(workspace.distances if case.tree else workspace.vectors).encode(),
        code_digest(workspace.root / "requirements.lock").encode(),
    )


def _tasks(
    suite: Suite,
    cases: Sequence[Case],
    variants: Sequence[VariantInfo],
    workspace: Workspace,
    left: Mapping[TrialId, str],
    trial_timeout: float,
) -> Iterator[CaseTask]:
    for case in cases:
        for sample in range(suite.samples):
            trials = [(case.id, info.variant.name, sample) for info in variants]
            if any(trial in left for trial in trials):
                yield CaseTask(
                    case=case,
                    variants=tuple(info.variant for info, trial in zip(variants, trials, strict=True) if trial in left),
                    sample=sample,
                    cassette=workspace.cassette(case.id),
                    datasets=workspace.datasets,
                    cache=workspace.cache,
                    vectors=workspace.vectors,
                    samples=suite.samples,
                    trial_timeout=trial_timeout,
                    digests=tuple(left[trial] for trial in trials if trial in left),
                )


def _here(jobs: int) -> Execute:
    return lambda tasks: map(run_case, tasks) if jobs == 1 else run_tasks(tasks, jobs, run_case, lost)

"""All trials of a suite, in as many processes as there are cores."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from evals.models.case import Case
from evals.models.run import VariantInfo
from evals.models.suite import Suite
from evals.models.trace import Trace
from evals.runner.cache import TraceCache
from evals.runner.digests import code_digest, digest_of_replaced, file_digest, sha256
from evals.runner.task import TRIAL_TIMEOUT, CaseTask, run_case
from evals.runner.workers import run_tasks
from evals.workspace import Workspace


class Progress(Protocol):
    """Told of every finished trial."""

    def __call__(self, trace: Trace, *, reused: bool) -> None:
        """One more is there; `reused` when the cache had it."""


@dataclass(frozen=True)
class Trials:
    """What a suite's trials gave, in order of case, variant and sample."""

    traces: tuple[Trace, ...]
    reused: int


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
) -> Trials:
    """Run or reuse every trial.

    Args:
        suite: gives the number of samples.
        cases: what to run on.
        variants: what to run, each with its prompt's digest.
        workspace: where cassettes and caches are.
        jobs: worker processes; 1 runs in this process, where a trial that blocks it is not ended.
        fresh: run everything, whatever the cache holds.
        progress: told of every finished trial.
        trial_timeout: seconds after which a trial has failed.
    """
    store = TraceCache(workspace.cache / "trials")
    digests = {
        (case.id, info.variant.name, sample): trial_digest(case, info, sample, suite.samples, workspace)
        for case in cases
        for info in variants
        for sample in range(suite.samples)
    }
    found: dict[tuple[str, str, int], Trace] = {}
    for trial, digest in {} if fresh else digests.items():
        trace = store.get(digest)
        if trace is not None:
            found[trial] = trace
            progress(trace, reused=True)
    reused = len(found)
    for trace in _run(_tasks(suite, cases, variants, workspace, found, trial_timeout), jobs):
        trial = (trace.case_id, trace.variant, trace.sample)
        found[trial] = trace
        store.put(digests[trial], trace)
        progress(trace, reused=False)
    return Trials(tuple(found[trial] for trial in digests), reused)


def trial_digest(case: Case, info: VariantInfo, sample: int, samples: int, workspace: Workspace) -> str:
    """What a trial's trace is stored under: everything it depends on."""
    return sha256(
        case.digest.encode(),
        info.variant.model_dump_json().encode(),
        info.prompt_digest.encode(),
        f"{sample} of {samples}".encode(),
        file_digest(workspace.cassette(case.id)).encode(),
        digest_of_replaced(workspace.vectors).encode(),
        code_digest(workspace.root / "requirements.lock").encode(),
    )


def _tasks(
    suite: Suite,
    cases: Sequence[Case],
    variants: Sequence[VariantInfo],
    workspace: Workspace,
    found: Mapping[tuple[str, str, int], Trace],
    trial_timeout: float,
) -> Iterator[CaseTask]:
    for case in cases:
        for sample in range(suite.samples):
            left = tuple(info.variant for info in variants if (case.id, info.variant.name, sample) not in found)
            if left:
                yield CaseTask(
                    case=case,
                    variants=left,
                    sample=sample,
                    cassette=workspace.cassette(case.id),
                    datasets=workspace.datasets,
                    cache=workspace.cache,
                    vectors=workspace.vectors,
                    samples=suite.samples,
                    trial_timeout=trial_timeout,
                )


def _run(tasks: Iterable[CaseTask], jobs: int) -> Iterator[Trace]:
    pending = list(tasks)
    done = map(run_case, pending) if jobs == 1 else run_tasks(pending, jobs)
    for traces in done:
        yield from traces

"""Trials of a suite, run or reused from the cache; shards."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from typing import Final, Protocol

from evals.content_cache import digest_of
from evals.errors import ConfigurationError
from evals.models.case import Case
from evals.models.run import SharedParts, VariantInfo
from evals.models.suite import Suite
from evals.models.trace import Trace
from evals.runner.dependencies import code_digest, digest_of_replaced
from evals.runner.input_check import Pins
from evals.runner.trial_cache import Keeper
from evals.runner.trial_task import TRIAL_TIMEOUT, CaseTask, lost, read_ahead, run_case
from evals.runner.worker_pool import beside, run_tasks
from evals.runner.worker_server import origin
from evals.shared.extras import missing_extra, missing_from
from evals.workspace import Workspace

_WRITTEN: Final = re.compile(r"([1-9]\d{0,5})/([1-9]\d{0,5})")


@dataclass(frozen=True)
class Share:
    """Share `number` of `of`, counted from 1. What is dealt out is a case and a sample, with all its variants."""

    number: int = 1
    of: int = 1

    @classmethod
    def parse(cls, text: str) -> "Share":
        """`2/3`: the second of three.

        Raises:
            ConfigurationError: anything else.
        """
        found = _WRITTEN.fullmatch(text)
        if found is None or int(found[1]) > int(found[2]):
            raise ConfigurationError(f"--shard {text}: write NUMBER/OF, counted from 1, such as 2/3")
        return cls(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"{self.number} of {self.of}"

    def has(self, position: int) -> bool:
        """Whether the one at `position`, counted from 0, is in it."""
        return position % self.of == self.number - 1

    def size(self, whole: int) -> int:
        """How many of `whole` are in it."""
        return len(range(self.number - 1, whole, self.of))


WHOLE: Final = Share()


TrialId = tuple[str, str, int]
"""Case, variant and sample."""

Execute = Callable[[Sequence[CaseTask]], Iterable[list[Trace]]]
"""Runs tasks, in any order, and gives the traces of each."""


class Progress(Protocol):
    """Told of every finished trial."""

    def __call__(self, trace: Trace, *, reused: bool, total: int) -> None:
        """One more of `total` is there; `reused` when the cache had it."""


@dataclass(frozen=True, repr=False)
class Trials:
    """What a suite's trials gave, in order of case, variant and sample."""

    traces: tuple[Trace, ...]
    reused: int
    digests: tuple[str, ...] = ()
    """What each trace is stored under, in the same order."""
    recorded: Mapping[str, str] = field(default_factory=dict)
    """The digest of each case's cassette, as it was replayed."""

    def __repr__(self) -> str:
        return f"<Trials: {len(self.traces)}, {self.reused} reused unchanged>"


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
    """Run or reuse every trial of the share, as `replay` says; `elsewhere` runs them in place of processes here."""
    keeper = Keeper(workspace.cache, elsewhere=elsewhere is not None)
    pins = Pins.of(variants, workspace)
    recorded = cassette_digests(cases, workspace)
    digests = trial_digests(suite, cases, variants, workspace, share, recorded)
    found: dict[TrialId, Trace] = {}
    shared = SharedParts()
    here = elsewhere is None and jobs > 1
    if here and (fresh or keeper.may_lack(digests.values())):
        origin()  # it loads while what is known is read
    for trial, digest in {} if fresh else digests.items():
        trace = keeper.get(digest)
        if trace is not None:
            found[trial] = shared.trace(trace)
            progress(trace, reused=True, total=len(digests))
    reused = len(found)
    left = {trial: digest for trial, digest in digests.items() if trial not in found}
    extra = workspace.pack.extra
    if left and extra and (needed := missing_from(extra)):  # by every trial; said once, and not by each worker
        raise ConfigurationError(needed)
    tasks = list(_tasks(suite, cases, variants, workspace, left, trial_timeout, pins, recorded)) if left else []
    if here:
        read_ahead(tasks)
    with closing(keeper), beside(meanwhile) if meanwhile and here and tasks else nullcontext():
        for trace in (trace for traces in (elsewhere or _here(jobs))(tasks) for trace in traces):
            trial = trial_id(trace)
            found[trial] = shared.trace(trace)
            keeper.put(digests[trial], trace)
            progress(trace, reused=False, total=len(digests))
    return Trials(tuple(found[trial] for trial in digests), reused, tuple(digests.values()), recorded)


def trial_id(trace: Trace) -> TrialId:
    """The trial a trace is of."""
    return trace.case_id, trace.variant, trace.sample


def cassette_digests(cases: Sequence[Case], workspace: Workspace) -> dict[str, str]:
    """The digest of each case's cassette, by the case's name; `ABSENT` where there is none."""
    return {case.id: digest_of_replaced(workspace.cassette(case.id)) for case in cases}


def trial_digests(
    suite: Suite,
    cases: Sequence[Case],
    variants: Sequence[VariantInfo],
    workspace: Workspace,
    share: Share = WHOLE,
    recorded: Mapping[str, str] | None = None,
) -> dict[TrialId, str]:
    """What each trial of the share is stored under, in order of case, variant and sample; `recorded` are the digests of
    the cassettes, where they were read before."""
    known = recorded or {}
    return {
        (case.id, info.variant.name, sample): trial_digest(
            case, info, sample, suite.samples, workspace, known.get(case.id)
        )
        for number, case in enumerate(cases)
        for info in variants
        for sample in range(suite.samples)
        if share.has(number * suite.samples + sample)
    }


def trial_digest(
    case: Case, info: VariantInfo, sample: int, samples: int, workspace: Workspace, recorded: str | None = None
) -> str:
    """What a trial's trace is stored under: everything it depends on but the installed packages."""
    return digest_of(
        f"{case.digest} {case.repository} {case.url}".encode(),
        info.variant.model_dump_json().encode(),
        info.prompt_digest.encode(),
        f"{sample} of {samples}".encode(),
        (recorded or digest_of_replaced(workspace.cassette(case.id))).encode(),
        digest_of_replaced(workspace.distances if case.tree else workspace.vectors).encode(),
        code_digest(workspace.root, workspace.pack).encode(),
    )


def _tasks(
    suite: Suite,
    cases: Sequence[Case],
    variants: Sequence[VariantInfo],
    workspace: Workspace,
    left: Mapping[TrialId, str],
    trial_timeout: float,
    pins: Pins,
    recorded: Mapping[str, str],
) -> Iterator[CaseTask]:
    """The tasks of the trials that are left. Raises ConfigurationError if a prompt was edited meanwhile."""
    prompts = [workspace.pack.prompt_of(info, workspace.root) for info in variants]
    for case in cases:
        for sample in range(suite.samples):
            trials = [(case.id, info.variant.name, sample) for info in variants]
            asked = [number for number, trial in enumerate(trials) if trial in left]
            if asked:
                yield CaseTask(
                    case=case,
                    variants=tuple(variants[number].variant for number in asked),
                    sample=sample,
                    cassette=workspace.cassette(case.id),
                    datasets=workspace.datasets,
                    cache=workspace.cache,
                    vectors=workspace.vectors,
                    root=workspace.root,
                    pack=workspace.project.pack,
                    samples=suite.samples,
                    trial_timeout=trial_timeout,
                    digests=tuple(left[trials[number]] for number in asked),
                    prompts=tuple(prompts[number] for number in asked),
                    recorded=recorded[case.id],
                    pins=pins,
                )


def _here(jobs: int) -> Execute:
    return lambda tasks: map(run_case, tasks) if jobs == 1 else run_tasks(tasks, jobs, run_case, lost)


LOCAL: Final = "local"
DASK: Final = "dask://"


def scheduled(name: str, workspace: Workspace) -> Execute | None:
    """What runs the tasks of `local` (None: processes of this machine) or `dask://HOST:PORT`.

    Raises:
        ConfigurationError: neither of them, the extra `dask` is not installed, or workers of other code.
        CannotJudgeError: nobody there, or no workers.
    """
    if name == LOCAL:
        return None
    if not name.startswith(DASK):
        raise ConfigurationError(f"--scheduler {name}: write {LOCAL} or {DASK}HOST:PORT")
    try:
        from evals.runner.dask_cluster import Cluster  # noqa: PLC0415 - distributed is an extra, and slow to load
    except ModuleNotFoundError as error:
        raise ConfigurationError(f"--scheduler {name}: {missing_extra(error) or error}") from error
    return Cluster.at(name.removeprefix(DASK), workspace).run

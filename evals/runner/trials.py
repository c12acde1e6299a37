"""Trials of a suite, run or reused from the cache; shards."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, field
from itertools import product
from multiprocessing import current_process
from pathlib import Path

from evals.content_cache import digest_of
from evals.errors import ConfigurationError
from evals.fork_server import note_inputs, origin
from evals.models.case import Case
from evals.models.run import SharedParts, VariantInfo
from evals.models.run_request import DASK, LOCAL, WHOLE, Share
from evals.models.trace import Trace
from evals.run_context import RunContext
from evals.runner.case_task import ANY_CASSETTE, CaseTask, earlier, lost, read_ahead, run_case, while_loading
from evals.runner.trial_cache import Keeper, Pins, code_digest, digest_of_replaced
from evals.runner.worker_pool import beside, run_tasks
from evals.shared.command_lifecycle import missing_extra, missing_from
from evals.shortcut_switch import is_plain
from evals.suites.suite_files import suite_file
from evals.workspace import Workspace

TrialId = tuple[str, str, int]
"""Case, variant and sample."""

Execute = Callable[[Sequence[CaseTask]], Iterable[list[Trace]]]
"""Runs tasks, in any order, and gives the traces of each."""


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
    context: RunContext,
    *,
    beside_workers: Callable[[], object] | None = None,
    meanwhile: Callable[[Iterable[Trace]], Iterable[Callable[[], object]]] | None = None,
) -> Trials:
    """Run or reuse every trial that the context's request asks for, and tell its progress of each.

    One job runs in this process, where a trial that blocks it is not ended, unless the pack wants another one.
    `beside_workers` is done in one process more, beside those that run trials; where there are none it is not done.
    `meanwhile` is done in this one with the trials that are reused, step by step for as long as workers cannot begin.

    Raises:
        ConfigurationError: the scheduler cannot be reached, or the target needs an extra that is not installed.
    """
    request, workspace, progress = context.request, context.workspace, context.progress
    elsewhere = scheduled(request.scheduler, workspace)
    keeper = Keeper(workspace.cache, elsewhere=elsewhere is not None)
    pins = Pins.of(context.variants, workspace)
    recorded = cassette_digests(context.cases, workspace)
    digests = trial_digests(context, request.share, recorded)
    found: dict[TrialId, Trace] = {}
    shared = SharedParts()
    here = elsewhere is None and request.jobs > 1
    if here and (request.fresh or keeper.may_lack(digests.values())):
        origin()  # it loads while what is known is read
    for trial, digest in {} if request.fresh else digests.items():
        trace = keeper.get(digest)
        if trace is not None:
            found[trial] = shared.trace(trace)
            progress(trace, reused=True, total=len(digests))
    reused = len(found)
    left = {trial: digest for trial, digest in digests.items() if trial not in found}
    extra = workspace.pack.extra
    if left and extra and (needed := missing_from(extra)):  # by every trial; said once, and not by each worker
        raise ConfigurationError(needed)
    kept = keeper if elsewhere is None else None
    tasks = list(_tasks(context, left, pins, recorded, kept)) if left else []
    before = {trial_id(each.trace): each.trace for task in tasks for each in task.earlier if each is not None}
    if here:
        read_ahead(tasks)
        while_loading(meanwhile(found.values()) if meanwhile and tasks else ())
    with closing(keeper), beside(beside_workers) if beside_workers and here and tasks else nullcontext():
        for trace in (trace for traces in (elsewhere or _here(request.jobs))(tasks) for trace in traces):
            trial = trial_id(trace)
            same = before.get(trial) == trace
            reused += same
            found[trial] = shared.trace(trace)
            keeper.put(digests[trial], trace)
            progress(trace, reused=same, total=len(digests))
    if here:
        note_inputs(workspace.cache, [*pins.paths, *_read_of(context)])
    return Trials(tuple(found[trial] for trial in digests), reused, tuple(digests.values()), recorded)


def _read_of(context: RunContext) -> Iterator[Path]:
    """The files that people change of what a run reads: its suite, and what belongs to its cases."""
    with suppress(ConfigurationError):  # a suite that was made, or whose file is gone
        yield suite_file(context.request.suite, context.request.root)
    for case in context.cases:
        yield context.workspace.cassette(case.id)
    given = {context.workspace.pack.input_file(context.workspace.datasets, case.id).parent for case in context.cases}
    yield from (path for folder in given if folder.is_dir() for path in folder.iterdir())


def trial_id(trace: Trace) -> TrialId:
    """The trial a trace is of."""
    return trace.case_id, trace.variant, trace.sample


def cassette_digests(cases: Sequence[Case], workspace: Workspace) -> dict[str, str]:
    """The digest of each case's cassette, by the case's name; `ABSENT` where there is none."""
    return {case.id: digest_of_replaced(workspace.cassette(case.id)) for case in cases}


def trial_digests(
    context: RunContext, share: Share = WHOLE, recorded: Mapping[str, str] | None = None
) -> dict[TrialId, str]:
    """What each trial of the share that is not skipped is stored under, in order of case, variant and sample;
    `recorded` are the digests of the cassettes, where they were read before."""
    known, samples, workspace = recorded or {}, context.suite.samples, context.workspace
    code = code_digest(workspace.root, workspace.pack)
    return {
        trial: trial_digest(case, info, sample, samples, workspace, known.get(case.id), code)
        for number, case in enumerate(context.cases)
        for info in context.variants
        for sample in range(samples)
        if (trial := (case.id, info.variant.name, sample)) not in context.skipped
        and share.has(number * samples + sample)
    }


def trial_digest(
    case: Case,
    info: VariantInfo,
    sample: int,
    samples: int,
    workspace: Workspace,
    recorded: str | None = None,
    code: str | None = None,
) -> str:
    """What a trial's trace is stored under: everything it depends on but the installed packages; `recorded` and `code`
    are the digests of cassette and code, where they are known."""
    return digest_of(
        f"{case.digest} {case.repository} {case.url}".encode(),
        info.variant.model_dump_json().encode(),
        info.prompt_digest.encode(),
        f"{sample} of {samples}".encode(),
        (recorded or digest_of_replaced(workspace.cassette(case.id))).encode(),
        digest_of_replaced(workspace.distances if case.tree else workspace.vectors).encode(),
        (code or code_digest(workspace.root, workspace.pack)).encode(),
    )


def _tasks(
    context: RunContext, left: Mapping[TrialId, str], pins: Pins, recorded: Mapping[str, str], keeper: Keeper | None
) -> Iterator[CaseTask]:
    """The tasks of the trials that are left, with those of before where there is a `keeper` of them. Raises
    ConfigurationError if a prompt was edited meanwhile."""
    variants, workspace, samples = context.variants, context.workspace, context.suite.samples
    prompts = [workspace.pack.prompt_of(info, workspace.root) for info in variants]
    processes = [workspace.pack.process_of(prompt) for prompt in prompts]
    code = code_digest(workspace.root, workspace.pack)
    for case, sample, process in product(context.cases, range(samples), dict.fromkeys(processes)):
        trials = [(case.id, info.variant.name, sample) for info in variants]
        asked = [number for number, trial in enumerate(trials) if trial in left and processes[number] == process]
        if asked:
            names = [
                trial_digest(case, variants[number], sample, samples, workspace, ANY_CASSETTE, code)
                for number in (asked if keeper else ())
            ]
            known = keeper if keeper and not (context.request.fresh or is_plain()) else None
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
                samples=samples,
                timeout_s=context.request.trial_timeout,
                digests=tuple(left[trials[number]] for number in asked),
                prompts=tuple(prompts[number] for number in asked),
                recorded=recorded[case.id],
                pins=pins,
                process=process,
                names=tuple(names),
                earlier=tuple(earlier(workspace.cache, case.id, sample, names, known)) if known else (),
            )


def _here(jobs: int) -> Execute:
    def run(tasks: Sequence[CaseTask]) -> Iterable[list[Trace]]:
        anywhere = all(task.process is None for task in tasks)
        if jobs == 1 and (anywhere or current_process().daemon):  # a worker may not start another one
            return map(run_case, tasks)
        return run_tasks(tasks, jobs, run_case, lost)

    return run


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

"""The pipeline of a run: plan -> replay -> score -> compare -> decide -> write."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from evals.application_pack import Pack
from evals.atomic_files import new_report, write_files
from evals.comparison.baseline import scorers_digest
from evals.errors import ConfigurationError
from evals.models.case import Case
from evals.models.run import DatasetBaseline, Run
from evals.models.run_request import RunRequest
from evals.models.trace import Trace
from evals.paths import path_of_user
from evals.pipeline.kept_verdict import MOST, RUN, Files, KeptVerdict
from evals.pipeline.load_suite import plan
from evals.project import Project
from evals.recording.coverage import label_of
from evals.run_context import Progress, RunContext, unwatched
from evals.runner.trials import TrialId, Trials, run_trials, trial_id
from evals.secret_filter import held_back, unsuspicious
from evals.workspace import Workspace


@dataclass(frozen=True)
class FinishedRun:
    """A run with its verdict, what it rests on, and where its report is."""

    run: Run
    context: RunContext
    trials: Trials
    folder: Path
    seconds: float


def run(request: RunRequest, progress: Progress = unwatched) -> FinishedRun:
    """Run a suite and write its report. Raises EvalsError where there is nothing to decide."""
    if not isinstance(request, RunRequest):
        raise ConfigurationError(f"run: {request!r:.60} is no request; write RunRequest('prompts')")
    request = replace(request, root=path_of_user(request.root, "root"))
    folder = request.folder(Project.at(request.root).reports)
    with new_report(folder):
        context = plan(request, progress)
        started = time.monotonic()
        aside = partial(floors, context.cases, context.workspace)
        trials = run_trials(context, beside_workers=aside, meanwhile=partial(_prepared, context.workspace.pack))
        found = finish(context, trials, folder)
        return FinishedRun(found, context, trials, folder, time.monotonic() - started)


def _prepared(pack: Pack, traces: Iterable[Trace]) -> Iterator[Callable[[], object]]:
    """What deciding and writing need of these traces, step by step; the filter knows a text that it has seen."""
    yield partial(import_module, "evals.pipeline.decide_run")
    yield partial(import_module, "evals.report.run_files")
    yield partial(scorers_digest, pack)  # parses what scorers import
    for trace in traces:
        yield partial(unsuspicious, [trace.model_dump_json()], [])


def floors(cases: Sequence[Case], workspace: Workspace) -> list[DatasetBaseline]:
    """What the primary metrics come to on these cases without any model; the pack keeps it."""
    return workspace.pack.floors(cases, workspace)


def finish(context: RunContext, trials: Trials, folder: Path) -> Run:
    """Score, compare, decide and write; what was kept of an unchanged run is only written."""
    kept = KeptVerdict(context, trials)
    known = kept.files(anew=context.request.fresh)
    if known is not None:
        write_files(folder, known)
        return Run.model_validate_json(known[RUN])
    found, files = kept.decided(partial(_decided, context, trials, folder))
    write_files(folder, files)
    return found


def _decided(context: RunContext, trials: Trials, folder: Path) -> tuple[Run, Files]:
    from evals.pipeline.decide_run import compare, decide_scored, score  # noqa: PLC0415 - a fifth of a second, as the next
    from evals.pipeline.decisive_step import with_decisive_steps  # noqa: PLC0415
    from evals.report.run_files import files_of, write_fit  # noqa: PLC0415

    scored = score(context, trials)
    found = decide_scored(context, trials, scored, compare(scored))
    if context.request.decisive:
        found = found.model_copy(update={"trials": with_decisive_steps(context, found.trials)})
    found = held_back(found, context.workspace.cassettes).sealed()
    if len(trials.traces) > MOST:
        write_fit(found, folder, context.workspace)
        return found, {}
    return found, files_of(found, context.workspace)


def replay(suite: RunContext, *, progress: Progress | None = None, **how: Any) -> Trials:  # noqa: ANN401 - as the fields are
    """All trials of a suite; `progress` is told of each, and `how` are fields of `RunRequest`, such as `jobs`."""
    if not isinstance(suite, RunContext):
        raise ConfigurationError(f"replay: {suite!r:.60} is no loaded suite; `load_suite` gives one")
    return run_trials(replace(suite, request=replace(suite.request, **how), progress=progress or suite.progress))


def begun(suite: RunContext) -> RunContext:
    """The cases that anything is recorded of: only their trials can replay."""
    return replace(suite, cases=[case for case in suite.cases if suite.workspace.cassette(case.id).exists()])


def proven(traces: Iterable[Trace]) -> set[TrialId]:
    """The trials that these traces, of a replay, show to be wholly recorded: nothing of them is left to record."""
    return {trial_id(trace) for trace in traces if label_of(trace) == "exact"}

"""Faults of the triage graph that a self-test plants: its prompts, guards, limits, labels and reports."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

from evals.analysis.selftest_faults import ScratchSuite, plan_of, replayed
from evals.models.run import Run
from evals.models.trace import Trace, Visit
from evals.scoring.registry import score_trials
from evals.triage.typed_views import comment_of, report_of
from evals.triage.variant_settings import ConfidenceFloorSetting, settings_of


def worse_prompt(bench: ScratchSuite) -> Run | str:
    """The last rule of the candidate's prompt is deleted."""
    info = bench.candidate
    source = bench.scratch / "worse.md"
    path = Path(info.prompt_source)
    original = path if path.is_absolute() else bench.workspace.root / path
    if not info.prompt_source or not original.is_file():
        return "the candidate has no prompt"
    head, mark, task = original.read_text(encoding="utf-8").partition("<!-- task -->")
    shorter, _, _ = head.rstrip().rpartition("\n")
    source.write_text(f"{shorter}\n\n{mark}{task}", encoding="utf-8")
    return replayed(
        bench,
        bench.workspace.pack.describe(info.variant.model_copy(update={"prompt": str(source)}), bench.workspace.root),
    )


def dropped_guard(bench: ScratchSuite) -> Run | str:
    """The candidate runs without the guard that sends a job to the investigator first."""
    return _changed(bench, guards="hardened-without-investigator_first")


def raised_limit(bench: ScratchSuite) -> Run | str:
    """The candidate may make two visits more."""
    return _changed(bench, max_iterations=settings_of(bench.candidate.variant).max_iterations + 2)


def raised_floor(bench: ScratchSuite) -> Run | str:
    """The candidate must be entirely sure before a report is written."""
    return _changed(bench, confidence_floor=ConfidenceFloorSetting(single=1, corroborated=1))


def corrupted_label(bench: ScratchSuite) -> Run | str:
    """A case's severity is labelled anew, in a copy of the dataset."""
    case = bench.cases[0]
    copy = bench.scratch / "datasets"
    shutil.copytree(bench.workspace.datasets, copy)
    path = bench.workspace.pack.labels_file(copy, case.id)
    now = "LOW" if case.labels.severity != "LOW" else "CRITICAL"
    text = path.read_text(encoding="utf-8").replace(f"severity: {case.labels.severity}", f"severity: {now}")
    path.write_text(text, encoding="utf-8")
    spoilt = bench.workspace.pack.load_case(copy, case.id)
    return bench.run(cases=(spoilt, *bench.cases[1:]))


def leaked_canary(bench: ScratchSuite) -> Run | str:
    """What an issue tries to inject reaches a comment."""
    known = bench.baseline.leaks.get(bench.suite.candidate, ())
    case = next((case for case in bench.cases if case.labels.canary and case.id not in known), None)
    if case is None:
        return "no case has a canary"
    canary = case.labels.canary
    return _retold(
        bench, case.id, lambda trace: {"output": {**trace.output, "comment": f"{comment_of(trace)} {canary}"}}
    )


def doubled_writer(bench: ScratchSuite) -> Run | str:
    """The report is written twice."""

    def twice(trace: Trace) -> dict[str, object]:
        last = trace.visits[-1].superstep if trace.visits else 0
        return {"visits": (*trace.visits, *(Visit(node="writer", superstep=last + n) for n in (2, 4)))}

    return _retold(bench, bench.cases[0].id, twice)


def shared_code(bench: ScratchSuite) -> Run | str:
    """Code that all variants share names a file that does not exist in every report."""

    def astray(trace: Trace) -> Trace:
        if report_of(trace) is None:
            return trace
        named = {"root_cause_location": "nowhere.py", "affected_files": ["nowhere.py"]}
        return trace.model_copy(update={"output": {**trace.output, **named}})

    cases = {case.id: case for case in bench.cases}
    return bench.run(score_trials(cases, [astray(trial.trace) for trial in bench.trials]))


def needless_option(bench: ScratchSuite) -> Run | str:
    """Every report names a file that does not exist, and the run's options ask for what the suite has anyway."""
    spoilt = shared_code(bench)
    if isinstance(spoilt, str) or not bench.needless:
        return spoilt
    return bench.run(spoilt.trials, baseline=None, wants_baseline=False, unblessed=bench.needless)


def _changed(bench: ScratchSuite, **fields: object) -> Run | str:
    variant = bench.candidate.variant.model_copy(update=fields)
    return replayed(bench, bench.candidate.model_copy(update={"variant": variant}))


def _retold(bench: ScratchSuite, case_id: str, change: Callable[[Trace], dict[str, object]]) -> Run | str:
    """The run with the candidate's trace of one case changed by hand."""
    mine = [trial.trace for trial in bench.trials if trial.trace.variant == bench.suite.candidate]
    return bench.run(
        bench.with_candidate(
            [trace.model_copy(update=change(trace)) if trace.case_id == case_id else trace for trace in mine]
        )
    )


_IN_VARIANT: Final = (worse_prompt, dropped_guard, raised_limit, raised_floor)
_IN_TRIALS: Final = (corrupted_label, leaked_canary, doubled_writer, shared_code, needless_option)
FAULTS: Final = tuple(map(plan_of, (*_IN_VARIANT, *_IN_TRIALS)))

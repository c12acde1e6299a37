"""Scores as LangSmith feedback."""

from collections.abc import Iterator
from typing import Any, Final

from evals.langsmith.trial_runs import LangSmithSpan, feedback_id
from evals.llm_judge.grades import value
from evals.models.judge import Grades, JudgedRun
from evals.models.metrics import Failed, Outcome, Scored
from evals.models.run import CaseInfo, Run, Trial
from evals.report.junit_xml import broken
from evals.report.view.explain_view import state_sentences
from evals.report.view.violations_table import reason_of

SOURCE: Final = {"sent_by": "evals langsmith push"}
"""Marks what is ours: what people say is pulled back, this is not."""


def feedback_of(run: Run, trial: Trial, case: CaseInfo, root: LangSmithSpan) -> Iterator[dict[str, Any]]:
    """What every scorer says of a trial, as `create_feedback` takes it. A score that does not apply is none."""
    for key, outcome in trial.outcomes.items():
        if not isinstance(outcome, Scored | Failed):
            continue
        yield {**_about(root, key), **_said(outcome), "comment": _comment(run, trial, case, key, outcome)}
    for question, grade in _grades(run, trial).items():
        comment = " ".join((grade.reason, *(f"“{quote}”" for quote in grade.quotes)))
        yield {**_about(root, f"judge.{question}"), **_place(run, question, grade.grade), "comment": comment}


def _about(root: LangSmithSpan, key: str) -> dict[str, Any]:
    return {
        "key": key,
        "run_id": str(root.id),
        "trace_id": str(root.id),
        "session_id": str(root.experiment.id),
        "start_time": root.start,
        "feedback_id": str(feedback_id(root.id, key)),
        "source_info": dict(SOURCE),
    }


def _said(outcome: Scored | Failed) -> dict[str, Any]:
    return {"score": outcome.value} if isinstance(outcome, Scored) else {"error": True}


def _comment(run: Run, trial: Trial, case: CaseInfo, key: str, outcome: Outcome) -> str | None:
    """The sentences that explain a score; None where its definition says it all."""
    if isinstance(outcome, Failed):
        return outcome.error
    return " ".join(f"{sentence.rstrip('.')}." for sentence in _sentences(run, trial, case, key)) or None


def _sentences(run: Run, trial: Trial, case: CaseInfo, key: str) -> Iterator[str]:
    trace = trial.trace
    if key == "route.pass" and (why := reason_of(trial, case)):
        yield why
    if key == "root_cause.hit":
        named = (trace.report.root_cause_location if trace.report else None) or "no place"
        yield f"named {named}; to blame: {', '.join(case.gold_files) or 'no file of the repository'}"
    if key == "decision.score":
        yield from state_sentences(trace, case)
    yield from (said for said in broken(run, trace.variant, case.id) if said.startswith(f"{key} "))


def _place(run: Run, question: str, grade: str) -> dict[str, Any]:
    """A grade, and its place on the scale: 0 the worst, 1 the best."""
    scale = run.judge.scales.get(question, ()) if isinstance(run, JudgedRun) else ()
    return {"score": value(scale, grade), "value": grade} if grade in scale else {"value": grade}


def _grades(run: Run, trial: Trial) -> Grades:
    """What the judge said of the trial's report; nothing in a run without one."""
    trace = trial.trace
    mine = (trace.case_id, trace.variant, trace.sample)
    rows = run.judge.trials if isinstance(run, JudgedRun) else ()
    return next((row.grades for row in rows if (row.case_id, row.variant, row.sample) == mine), {})

"""What came of each score, as events `gen_ai.evaluation.result`: scored and failed are events of their own, skipped
ones are named in an attribute, since a result without a value would be none."""

from collections.abc import Iterator

from evals.models.judge import endpoint
from evals.models.judged import JudgedRun, JudgedTrial
from evals.models.outcome import Failed, Scored, Skipped
from evals.models.run import Run, Trial
from evals.otlp import names
from evals.otlp.errors import error_of
from evals.otlp.planned import Attribute, Attributes, PlannedEvent, known


def score_attributes(run: Run, trial: Trial) -> Attributes:
    """The primary scores by name, to be searched for, and which scores were skipped."""
    scored = {scorer.name: trial.outcomes.get(scorer.name) for scorer in run.scorers if scorer.primary}
    skipped = tuple(name for name, outcome in trial.outcomes.items() if isinstance(outcome, Skipped))
    values: dict[str, Attribute | None] = {
        f"{names.OURS}.score.{name}": outcome.value for name, outcome in scored.items() if isinstance(outcome, Scored)
    }
    return known({**values, f"{names.OURS}.scores_skipped": skipped})


def score_events(run: Run, trial: Trial, at: int, *, content: bool) -> tuple[PlannedEvent, ...]:
    """Every score with a value or a failure, then a judge's grades; a judge's reason is content."""
    results = [*_scores(trial, content=content), *_grades(run, trial, content=content)]
    return tuple(PlannedEvent(name=names.SCORE_EVENT, at=at, attributes=result) for result in results)


def _scores(trial: Trial, *, content: bool) -> Iterator[Attributes]:
    for name, outcome in trial.outcomes.items():
        if isinstance(outcome, Scored):
            yield {names.SCORE: name, names.SCORE_VALUE: outcome.value}
        elif isinstance(outcome, Failed):
            yield {names.SCORE: name, **error_of(outcome.error, content=content)}


def _grades(run: Run, trial: Trial, *, content: bool) -> Iterator[Attributes]:
    for judged in _judged(run, trial):
        for question, grade in judged.grades.items():
            why = {names.SCORE_WHY: grade.reason} if content and grade.reason else {}
            yield {names.SCORE: endpoint(question), names.SCORE_LABEL: grade.grade, **why}


def _judged(run: Run, trial: Trial) -> Iterator[JudgedTrial]:
    trace = trial.trace
    if isinstance(run, JudgedRun):
        name = (trace.case_id, trace.variant, trace.sample)
        yield from (one for one in run.judge.trials if (one.case_id, one.variant, one.sample) == name)

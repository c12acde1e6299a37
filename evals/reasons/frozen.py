"""Frozen states in which everybody agrees, and the label does not."""

from collections.abc import Sequence

from evals.models.dispute import Choosing, DisputedPoint
from evals.models.run import CaseInfo, PointInfo, Trial
from evals.models.trace import PointAnswer
from evals.reasons.pool import Pool

Said = Sequence[tuple[str, Trial, PointAnswer]]


def disputed_points(pool: Pool) -> tuple[DisputedPoint, ...]:
    """States in which all answers are one node that is not the best graded; the lowest grade first, then those that
    most agreed on. States answered by nobody, or by somebody without a say there, are left out."""
    found: dict[tuple[str, str], list[tuple[str, Trial, PointAnswer]]] = {}
    for who, trial in pool.trials:
        for answer in trial.trace.points:
            if answer.chosen is not None and answer.say:
                found.setdefault((trial.trace.case_id, answer.point), []).append((who, trial, answer))
    points = {(case.id, point.id): (case, point) for case in pool.cases.values() for point in case.points}
    disputed = [_disputed(*points[key], said) for key, said in found.items() if key in points]
    return tuple(
        sorted(
            (item for item in disputed if item is not None),
            key=lambda item: (item.grade, -len(item.answers), item.case, item.point),
        )
    )


def _disputed(case: CaseInfo, point: PointInfo, said: Said) -> DisputedPoint | None:
    (chosen, *others) = dict.fromkeys(answer.chosen for _, _, answer in said)
    grade = point.accept.get(chosen, 0.0) if chosen else 0.0
    if others or chosen is None or grade >= max(point.accept.values()):
        return None
    return DisputedPoint(
        case=case.id,
        split=case.split,
        archetype=case.archetype,
        point=point.id,
        chosen=chosen,
        grade=grade,
        accept=point.accept,
        why=point.why,
        answers=tuple(
            Choosing(who=who, sample=trial.trace.sample, confidence=answer.confidence, reasoning=answer.reasoning)
            for who, trial, answer in said
        ),
    )

"""Grades of answers at decision points, one per frozen state."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from evals.models.case import Case
from evals.models.metrics import Scored
from evals.models.run import CaseInfo, Trial

Cases = Mapping[str, Case | CaseInfo]


class State(NamedTuple):
    """One decision point of a case, with its gold node. Where a score has one value per case, both are empty."""

    case_id: str
    point: str = ""
    gold: str = ""


def state_grades(trials: Sequence[Trial], cases: Cases, variant: str, scorer: str) -> dict[State, float]:
    """The mean grade of every state over the samples in which the whole case is scored, in order of state."""
    collected: dict[State, list[float]] = {}
    for trial in trials:
        if trial.trace.variant == variant and isinstance(trial.outcomes.get(scorer), Scored):
            choices = trial.trace.choices
            for point in cases[trial.trace.case_id].points:
                if (node := choices.get(point.id)) is not None:
                    state = State(trial.trace.case_id, point.id, point.gold)
                    collected.setdefault(state, []).append(point.accept.get(node, 0.0))
    return {state: sum(grades) / len(grades) for state, grades in sorted(collected.items())}


def unanswered_states(trials: Sequence[Trial], cases: Cases, variant: str, scorer: str) -> dict[State, float]:
    """What the grades above leave open: state -> share of the samples (above 0, up to 1) in which its case is not
    wholly answered. A state that left the supervisor no say is not open."""
    asked: dict[State, list[bool]] = {}
    for trial in sorted(trials, key=lambda trial: trial.trace.case_id):
        if trial.trace.variant == variant:
            lost, without_say = not isinstance(trial.outcomes.get(scorer), Scored), trial.trace.without_say
            for point in cases[trial.trace.case_id].points:
                if point.id not in without_say:
                    asked.setdefault(State(trial.trace.case_id, point.id, point.gold), []).append(lost)
    return {state: sum(lost) / len(lost) for state, lost in asked.items() if any(lost)}

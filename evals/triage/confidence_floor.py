"""The `confidence_floor` guard evaluated along a trace."""

from typing import Any, Final

from evals.models.case import Case, DecisionPoint
from evals.models.trace import Decision, PointAnswer, Trace
from evals.triage.variant_settings import ConfidenceFloorSetting
from triage.guards.guard import Guard
from triage.guards.guard_sets import SETS
from triage.guards.hardened_guards import confidence_floor
from triage.state import AgentFinding, BugTriageState, TriageReport
from triage.state import ConfidenceFloor as Thresholds

GUARD_SETS: Final = tuple(SETS)
Rulings = tuple[str | None, ...]
Asked = tuple[tuple[BugTriageState, Any], ...]

_A_REPORT: Final = TriageReport(
    root_cause="",
    root_cause_location=None,
    category="code",
    severity="LOW",
    affected_files=(),
    evidence=(),
    next_steps=(),
    confidence=0,
)


def asked(case: Case, trace: Trace) -> Asked | None:
    """The states the guards saw, each with the supervisor's choice, as far as a floor can tell them apart; the frozen
    decision points come last. None where they cannot be rebuilt: tasks of a plan are visited side by side."""
    if trace.plan is not None or any(decision.tasks for decision in trace.decisions):
        return None
    frozen = {point.id: point for point in case.labels.decision_points}
    return (
        *((_state(trace, decision), decision.chosen) for decision in trace.decisions),
        *((_frozen(case, frozen[answer.point], answer), answer.chosen) for answer in trace.points if answer.chosen),
    )


def rulings(states: Asked, floor: ConfidenceFloorSetting | None) -> Rulings:
    """Where the floor would send each choice; None where it lets it pass, everywhere if there is no floor."""
    if floor is None:
        return (None,) * len(states)
    guard: Guard = confidence_floor(Thresholds(**floor.model_dump()))
    vetoes = [guard(state, choice) for state, choice in states]
    return tuple(veto.send_to if veto else None for veto in vetoes)


def _state(trace: Trace, decision: Decision) -> BugTriageState:
    """The state at a decision, in the fields the floor reads."""
    before = trace.visits[: decision.iteration]
    written = any(visit.node == "writer" and visit.error is None for visit in before)
    return BugTriageState(
        issue_title="",
        issue_body="",
        iterations=decision.iteration,
        visits=[visit.node for visit in before],
        findings=[AgentFinding.model_validate(found.model_dump()) for visit in before for found in visit.findings],
        supervisor_confidence=decision.confidence,
        forced_fallback=decision.forced_fallback,
    ).model_copy(update={"report": _A_REPORT if written else None})


def _frozen(case: Case, point: DecisionPoint, answer: PointAnswer) -> BugTriageState:
    told = {"issue_title": case.title, "issue_body": case.body, **point.state}
    return BugTriageState.model_validate({**told, "supervisor_confidence": answer.confidence or 0.0})

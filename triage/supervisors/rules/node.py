"""The `rules` supervisor as the graph sees it: no model, one decision, and the telemetry of it."""

from typing import Any

from triage.configuration import Configuration, RulesSettings
from triage.state import BugTriageState, DecisionEvent
from triage.supervisors.rules.decide import Choice, decide
from triage.supervisors.rules.signals import Signals
from triage.supervisors.supervisor import Supervise, Tools


def supervisor(configuration: Configuration, toolbox: Tools) -> Supervise:
    """The rules with the settings of `configuration`; citations are checked against the repository's index."""
    settings = configuration.rules

    async def supervise(state: BugTriageState) -> dict[str, Any]:
        """Decide; the same state always gives the same update."""
        paths = toolbox.index_of(state.repository).paths
        return update_of(state, *decide(state, paths, settings), settings)

    return supervise


def update_of(state: BugTriageState, choice: Choice, signals: Signals, settings: RulesSettings) -> dict[str, Any]:
    """The state update: the choice, its event, and what the chosen agent needs; the scope of older searches goes."""
    retries = len(state.retry_reasons) + (choice.retry is not None)
    event = DecisionEvent(
        decision=choice.decision, confidence=signals.confidence, retry_count=retries, reason=choice.reason
    )
    update: dict[str, Any] = {
        "next_node": choice.node,
        "supervisor_reasoning": _reasoning(event, settings),
        "supervisor_confidence": signals.confidence,
        "forced_fallback": False,
        "corrections": 0,
        "briefing": briefing(signals),
        "decision_events": [event],
        "retry_reasons": [choice.retry] if choice.retry else [],
        "search_scope": choice.scope,
    }
    if choice.question is not None:
        update |= {"pending_exchange": choice.question, "awaiting_human": True}
    return update


def briefing(signals: Signals) -> str:
    """What the rules saw, for whoever reads the job afterwards."""
    yes = {True: "yes", False: "no"}
    return "\n".join(
        [
            f"Confidence: {signals.confidence:.0%}",
            f"Low confidence: {yes[signals.low_confidence]}",
            f"Citation issue: {yes[signals.citation_issue]}",
            f"Hallucination flag: {yes[signals.hallucination]}",
            f"Critic asks for a retry: {yes[signals.critic_retry]}",
            f"Conflict: {' against '.join(signals.sides) or 'none'}",
            f"Nothing retrieved: {signals.nothing or 'no'}",
        ]
    )


def _reasoning(event: DecisionEvent, settings: RulesSettings) -> str:
    """One line: the decision, its reason, and the numbers it was made on."""
    return (
        f"{event.decision}, {event.reason.replace('_', ' ')}: confidence {event.confidence:.0%} against a bar of "
        f"{settings.low_confidence:.0%}, {event.retry_count} of {settings.retries} retries used."
    )

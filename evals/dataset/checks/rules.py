"""The rules of the supervisor that leave no choice, over the fields of a frozen state.

Restated here on purpose: a label checked by the code of the system under test could never show that code to be wrong.
A rule returns the only nodes that are right (None: it has no say) and the nodes that are wrong.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from evals.models.case import DecisionPoint
from evals.models.route import Choice

State = Mapping[str, Any]
Say = tuple[set[Choice] | None, set[Choice]]
MAX_QUESTIONS: Final = 2
MAX_FAILURES: Final = 2
MAX_SEARCHES: Final = 2
DEFAULT_MAX_ITERATIONS: Final = 10
SURE: Final = 0.85
NO_SAY: Final[Say] = (None, set())


def nothing_after_the_report(state: State) -> Say:
    """With the report written there is nothing left but to end."""
    return ({"end"}, set()) if state.get("report") else (None, {"end"})


def the_limit_ends_it(state: State) -> Say:
    """At the iteration limit the next stop is the writer."""
    spent = state.get("iterations", 0) >= state.get("max_iterations", DEFAULT_MAX_ITERATIONS)
    return ({"writer"}, set()) if spent and not state.get("report") else NO_SAY


def the_investigator_is_first(state: State) -> Say:
    """Nothing comes before the investigator."""
    return NO_SAY if state.get("visits") else ({"investigator"}, set())


def two_questions_at_most(state: State) -> Say:
    """Both questions are spent."""
    return (None, {"human_input"}) if len(state.get("human_exchanges", ())) >= MAX_QUESTIONS else NO_SAY


def two_code_searches_at_most(state: State) -> Say:
    """The code was searched twice, and nobody asked for more."""
    asked_for = state.get("redirect_instructions") or len(state.get("human_exchanges", ())) >= MAX_QUESTIONS
    spent = list(state.get("visits", ())).count("codebase_search") >= MAX_SEARCHES
    return (None, {"codebase_search"}) if spent and not asked_for else NO_SAY


def one_critic_at_most(state: State) -> Say:
    """The critic has spoken, and is heard once."""
    spoken = "critic" in (finding.get("agent_name") for finding in state.get("findings", ()))
    return (None, {"critic"}) if spoken or state.get("critic_feedback") else NO_SAY


def nobody_fails_three_times(state: State) -> Say:
    """An agent that failed twice is not chosen again (save the writer: without it there is no report)."""
    failed = [error.get("agent_name") for error in state.get("agent_errors", ())]
    return None, {agent for agent in set(failed) - {"writer"} if failed.count(agent) >= MAX_FAILURES}


def a_rejection_binds(state: State) -> Say:
    """The critic rejected, and nothing new has landed since."""
    verdict = (state.get("critic_feedback") or {}).get("verdict")
    fresh = list(state.get("visits", ()))[-1:] == ["critic"]
    return (None, {"writer"}) if verdict == "REJECTED" and fresh and not state.get("forced_fallback") else NO_SAY


def the_critic_precedes_the_writer(state: State) -> Say:
    """Below 0.85 the best next step is no report that the critic has not seen."""
    heard = "critic" in state.get("visits", ()) or state.get("critic_feedback")
    unsure = state.get("supervisor_confidence", 0.0) < SURE
    return (None, {"writer"}) if unsure and not heard and not state.get("forced_fallback") else NO_SAY


# In order: a rule that leaves one node only is not overruled by those below it.
RULES: Final[tuple[Callable[[State], Say], ...]] = (
    nothing_after_the_report,
    the_limit_ends_it,
    the_investigator_is_first,
    two_questions_at_most,
    two_code_searches_at_most,
    one_critic_at_most,
    nobody_fails_three_times,
    a_rejection_binds,
    the_critic_precedes_the_writer,
)


RULES_OF_THE_BEST: Final = frozenset({the_critic_precedes_the_writer})
"""Held against the best nodes only: the confidence is that of the decision before, and may rise with the next."""


def broken_rule(point: DecisionPoint) -> tuple[Choice, str] | None:
    """A node the label accepts against a rule, and that rule in words; None if it keeps them all."""
    top = max(point.accept.values())
    for rule in RULES:
        only, wrong = rule(point.state)
        held = [node for node, grade in point.accept.items() if grade == top or rule not in RULES_OF_THE_BEST]
        against = sorted(choice for choice in held if choice in wrong or (only and choice not in only))
        if against:
            return against[0], str(rule.__doc__)
        if only:
            return None
    return None

"""The guards exactly as PRD-003-2 §6 gives them, order and faults included, so that the faults can be measured."""

from typing import Final

from triage.guards.guard import Guard, veto
from triage.guards.hardened_guards import report_before_end
from triage.state import MAX_QUESTIONS, BugTriageState, Node, Veto


def investigator_first(state: BugTriageState, choice: Node) -> Veto | None:
    """At iteration 0 only the investigator may act."""
    if state.iterations == 0 and choice != "investigator":
        return veto("investigator_first", state, choice, "investigator")
    return None


def question_limit(state: BugTriageState, choice: Node) -> Veto | None:
    """A user is asked twice at most; after that the code has to answer."""
    if len(state.human_exchanges) >= MAX_QUESTIONS and choice == "human_input":
        return veto("question_limit", state, choice, "codebase_search")
    return None


def iteration_limit(state: BugTriageState, choice: Node) -> Veto | None:
    """A spent budget sends the job to the writer."""
    if state.iterations >= state.max_iterations:
        return veto("iteration_limit", state, choice, "writer")
    return None


def critic_gate(state: BugTriageState, choice: Node) -> Veto | None:
    """While the critic's last word is REJECTED the writer has to wait."""
    rejected = state.critic_feedback is not None and state.critic_feedback.verdict == "REJECTED"
    if rejected and choice == "writer":
        return veto("critic_gate", state, choice, "investigator")
    return None


PRD: Final[tuple[Guard, ...]] = (
    investigator_first,
    question_limit,
    iteration_limit,
    report_before_end,
    critic_gate,
)

"""Guards: what one is, how a set of them rules on a choice, and those with the known faults repaired."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from triage.state import MAX_QUESTIONS, BugTriageState, ConfidenceFloor, Node, Veto, Worker

# Reads the state as the decision left it, and the choice. A Veto settles the matter, even one that sends the graph
# where it was going anyway: then the guards after it have nothing more to say, and nothing is recorded.
Guard = Callable[[BugTriageState, Node], Veto | None]


@dataclass(frozen=True)
class GuardSet:
    """An ordered set of guards by name, with the two habits of the graph that go with it.

    `drops_overruled_question`: a question that will not be asked is taken out of the state.
    `writer_ends`: the job is over after the writer; otherwise the supervisor is asked once more.
    """

    name: str
    guards: tuple[Guard, ...]
    drops_overruled_question: bool = True
    writer_ends: bool = True


@dataclass(frozen=True)
class Ruling:
    """Where the graph goes, and the veto that sent it there (None: the supervisor had its way)."""

    routed: Node
    veto: Veto | None = None


def veto(guard: str, state: BugTriageState, chosen: Node, send_to: Node) -> Veto:
    """The veto of `guard` in this state."""
    return Veto(guard=guard, chosen=chosen, send_to=send_to, iteration=state.iterations)


def rule(guards: tuple[Guard, ...], state: BugTriageState, choice: Node) -> Ruling:
    """The first guard that has something to say decides; without one the choice stands."""
    verdict = next((found for guard in guards if (found := guard(state, choice))), None)
    if verdict is None or verdict.send_to == choice:
        return Ruling(choice)
    return Ruling(verdict.send_to, verdict)


MAX_FAILURES: Final = 2
SEARCHES: Final[tuple[Worker, ...]] = ("codebase_search", "web_search")
CHECKS: Final[tuple[Worker, ...]] = (*SEARCHES, "critic")
EVIDENCE: Final[frozenset[Worker]] = frozenset({"investigator", *SEARCHES})


def investigator_first(state: BugTriageState, choice: Node) -> Veto | None:
    """Nothing comes before the investigator, not even a forced fallback: a report needs more than a title."""
    untouched = state.iterations == 0 and not state.visits
    if untouched and choice != "investigator":
        return veto("investigator_first", state, choice, "investigator")
    return None


def iteration_limit(state: BugTriageState, choice: Node) -> Veto | None:
    """A spent budget sends the job to the writer; with the report written, `end` may stand."""
    if state.iterations >= state.max_iterations:
        done = choice == "end" and state.report is not None
        return veto("iteration_limit", state, choice, "end" if done else "writer")
    return None


def question_limit(state: BugTriageState, choice: Node) -> Veto | None:
    """A user is asked twice at most; after that the code has to answer."""
    if choice == "human_input" and len(state.human_exchanges) >= MAX_QUESTIONS:
        return veto("question_limit", state, choice, _able(state, "codebase_search"))
    return None


def critic_gate(state: BugTriageState, choice: Node) -> Veto | None:
    """A rejection that nothing new has answered yet holds the report back."""
    if _wants_report(state, choice) and not state.forced_fallback and _rejection_binds(state):
        return veto("critic_gate", state, choice, _able(state, "investigator"))
    return None


def report_before_end(state: BugTriageState, choice: Node) -> Veto | None:
    """A job does not end without a report."""
    if choice == "end" and state.report is None:
        return veto("report_before_end", state, choice, "writer")
    return None


def failed_agent(state: BugTriageState, choice: Node) -> Veto | None:
    """An agent that failed twice is not chosen again: the first search that has not run yet, else the writer."""
    if choice in ("end", "writer") or _able(state, choice) == choice:
        return None
    return veto("failed_agent", state, choice, _able(state, choice))


def confidence_floor(floor: ConfidenceFloor) -> Guard:
    """The guard that enforces the thresholds of `floor` in code, as seed PRD-003-2 §7 states them for the prompt."""

    def confidence_floor(state: BugTriageState, choice: Node) -> Veto | None:
        """Below the floor the job goes to an agent that has not acted yet; once all have, the choice stands."""
        if not _wants_report(state, choice) or state.forced_fallback or sure_enough(state, floor):
            return None
        fresh = next((name for name in CHECKS if name not in state.visits), None)
        return veto("confidence_floor", state, choice, fresh) if fresh else None

    return confidence_floor


HARDENED: Final[tuple[Guard, ...]] = (
    investigator_first,
    iteration_limit,
    question_limit,
    critic_gate,
    report_before_end,
    failed_agent,
)


def _wants_report(state: BugTriageState, choice: Node) -> bool:
    return choice == "writer" or (choice == "end" and state.report is None)


def _rejection_binds(state: BugTriageState) -> bool:
    verdict = state.critic_feedback
    if verdict is None or verdict.verdict != "REJECTED":
        return False
    return len(state.findings) + len(state.human_exchanges) <= verdict.evidence_seen


def _able(state: BugTriageState, wanted: Node) -> Node:
    """`wanted`, unless it failed twice: then a search nobody has tried, and failing that the writer."""
    if sum(error.agent_name == wanted for error in state.agent_errors) < MAX_FAILURES:
        return wanted
    return next((name for name in SEARCHES if name not in state.visits), "writer")


def sure_enough(state: BugTriageState, floor: ConfidenceFloor) -> bool:
    """Whether the supervisor is sure enough for a report. Only what was found out counts as a finding here; a review
    corroborates nothing."""
    found = sum(finding.agent_name in EVIDENCE for finding in state.findings)
    confidence = state.supervisor_confidence
    return (confidence >= floor.single and found >= 1) or (
        confidence >= floor.corroborated and found >= floor.min_findings
    )

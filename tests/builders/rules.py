"""States as the `rules` supervisor meets them: a draft on the table, reviewed or not, and signals one by one."""

from typing import Any

from tests.builders.state import a_finding, a_state
from triage.graph_configuration import RulesSettings
from triage.state import AgentFinding, BugTriageState, CriticVerdict, RetryReason
from triage.supervisors.rules.rules_supervisor import RulesChoice, decide

FILES = frozenset({"shop/cart.py", "shop/mail.py", "shop/tax.py"})


def a_draft(details: str = "shop/cart.py::add", **fields: Any) -> AgentFinding:
    """What a codebase search answers: a place that exists, at confidence 0.8."""
    return a_finding("codebase_search", **{"confidence": 0.8, "details": details, **fields})


def an_outside_cause(details: str = "A bug in lib 2.1.", **fields: Any) -> AgentFinding:
    """What a web search answers."""
    return a_finding("web_search", details=details, relevant_files=("https://docs.invalid/1",), **fields)


def a_review_finding(details: str = "Verdict: CONFIRMED. Gaps: none") -> AgentFinding:
    """The critic's own finding; its details are a better hypothesis, or its verdict."""
    return a_finding("critic", details=details, relevant_files=())


def a_verdict(verdict: str = "APPROVED", **fields: Any) -> CriticVerdict:
    """A review that leaves the confidence as it was, and binds: nothing has landed since."""
    return CriticVerdict(**{"verdict": verdict, "confidence": 0.5, "evidence_seen": 99, **fields})


def a_drafted_state(*found: AgentFinding, **fields: Any) -> BugTriageState:
    """A job whose draft was investigated, searched and approved; `found` is what was found after the investigation."""
    told = [a_finding(), *(found or (a_draft(), a_review_finding()))]
    visits = [finding.agent_name for finding in told]
    return a_state(
        **{"findings": told, "visits": visits, "iterations": len(told), "critic_feedback": a_verdict(), **fields}
    )


def some_retries(count: int) -> list[RetryReason]:
    """So many retries were spent."""
    one = RetryReason(iteration=1, confidence=0.4, reason="low_confidence", citation_issue=False, hallucination=False)
    return [one.model_copy(update={"iteration": n}) for n in range(1, count + 1)]


def the_choice(state: BugTriageState, paths: frozenset[str] = FILES, **settings: Any) -> RulesChoice:
    """What the rules choose there."""
    return decide(state, paths, RulesSettings(**settings))[0]

"""States, findings and decisions for tests, each with a quiet default."""

from typing import Any

from triage.state import AgentError, AgentFinding, BugTriageState, CriticVerdict, HumanExchange, TriageReport, Worker


def a_state(**fields: Any) -> BugTriageState:
    """A job about an empty cart, untouched unless `fields` say otherwise."""
    issue = {"issue_title": "Cart total is wrong", "issue_body": "Adding two items charges for one."}
    return BugTriageState(**{**issue, **fields})


def a_finding(agent_name: Worker = "investigator", **fields: Any) -> AgentFinding:
    """What one visit learned, at confidence 0.75."""
    told = {
        "summary": "Quantities are lost",
        "confidence": 0.75,
        "details": "The cart keeps one line per product.",
        "relevant_files": ("shop/cart.py",),
    }
    return AgentFinding(agent_name=agent_name, **{**told, **fields})


def an_exchange(answer: str | None = "PostgreSQL", **fields: Any) -> HumanExchange:
    """A question about the database, answered unless told otherwise."""
    return HumanExchange(**{"question": "Which database?", "context": "Two are supported.", **fields}, answer=answer)


def a_rejection(evidence_seen: int = 1, **fields: Any) -> CriticVerdict:
    """A critic who is not convinced."""
    told = {"gaps": ("no line named",), "required_evidence": ("the line",), "confidence": 0.3}
    return CriticVerdict(**{"verdict": "REJECTED", **told, "evidence_seen": evidence_seen, **fields})


def a_report(**fields: Any) -> TriageReport:
    """A finished report."""
    told = {
        "root_cause": "Quantities are overwritten.",
        "root_cause_location": "shop/cart.py",
        "category": "code",
        "severity": "HIGH",
        "affected_files": ("shop/cart.py",),
        "evidence": ("line 12",),
        "next_steps": ("add them up",),
        "confidence": 0.9,
    }
    return TriageReport(**{**told, **fields})


def an_agent_error(agent_name: Worker = "codebase_search", iteration: int = 1) -> AgentError:
    """A visit that failed."""
    return AgentError(agent_name=agent_name, iteration=iteration, error="TimeoutError: no answer")

"""A job as schema 1 stored it: real LangGraph checkpoints, written by a graph whose types carry the old names.

The types claim to live in `triage.state`, as they did then: a checkpoint names the types it holds.
"""

from operator import add
from pathlib import Path
from typing import Annotated, Any

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from pydantic import BaseModel, create_model


def _old(name: str, **fields: Any) -> type[BaseModel]:
    return create_model(name, __module__="triage.state", **fields)


Finding1 = _old(
    "AgentFinding", agent_name=(str, ...), summary=(str, ...), confidence=(float, ...), details=(str, ...),
    relevant_files=(list[str], []),
)  # fmt: skip
Exchange1 = _old("HumanExchange", question=(str, ...), context=(str, ""), answer=(str | None, None))
Verdict1 = _old(
    "CriticVerdict", verdict=(str, ...), gaps=(list[str], []), required_evidence=(list[str], []),
    confidence=(float, ...),
)  # fmt: skip


class State1(BaseModel):
    """The state as PRD-003 first had it, as far as a job in its middle needs it."""

    schema_version: int = 1
    job_id: str = "job-1"
    issue_title: str
    issue_body: str
    findings: Annotated[list[Finding1], add] = []  # type: ignore[valid-type]
    human_exchanges: Annotated[list[Exchange1], add] = []  # type: ignore[valid-type]
    pending_exchange: Exchange1 | None = None  # type: ignore[valid-type]
    awaiting_human: bool = False
    critic_feedback: Verdict1 | None = None  # type: ignore[valid-type]
    current_node: str = ""
    iterations: int = 0
    max_iterations: int = 10
    next_node: str | None = None
    supervisor_reasoning: str = ""
    supervisor_confidence: float = 0.0


def a_finding_1(agent_name: str) -> BaseModel:
    """What one visit learned."""
    return Finding1(agent_name=agent_name, summary="s", confidence=0.6, details="Quantities are overwritten.")


async def a_job_stored_under_schema_1(path: Path, config: Any, next_node: str) -> None:
    """A job with two findings and a rejection, left where `next_node` is about to act (or waits for its answer)."""
    graph = StateGraph(State1)
    graph.add_node(
        "supervisor", lambda _: {"next_node": next_node, "pending_exchange": Exchange1(question="Which database?")}
    )
    graph.add_node("human_input", lambda state: {"findings": [interrupt(state.pending_exchange)]})
    graph.add_node("codebase_search", lambda _: {})
    graph.add_edge(START, "supervisor")
    graph.add_conditional_edges("supervisor", lambda state: state.next_node, ["human_input", "codebase_search"])
    graph.add_edge("human_input", END)
    graph.add_edge("codebase_search", END)
    async with AsyncSqliteSaver.from_conn_string(str(path)) as saver:
        stored = graph.compile(checkpointer=saver, interrupt_before=["codebase_search"])
        await stored.ainvoke(_middle(), config)


def _middle() -> State1:
    return State1(
        issue_title="Cart total is wrong",
        issue_body="Adding two items charges for one.",
        findings=[a_finding_1("investigator"), a_finding_1("critic")],
        critic_feedback=Verdict1(verdict="REJECTED", gaps=["no line named"], confidence=0.3),
        current_node="critic",
        iterations=1,
    )

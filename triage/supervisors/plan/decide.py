"""One step's two conversations: tools until the model has no more use for them, then a structured decision.

Two kinds of request, never one with both tools and a schema. Each request is written anew from the plan and from what
the tools have said: the ids of tool calls, which an endpoint makes up, never enter one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable
from pydantic import BaseModel, Field

from triage.form import Form
from triage.log import invalid_decision
from triage.state import TaskItem
from triage.supervisors.invalid import INVALID_OUTPUT, fault
from triage.supervisors.plan.status import runnable
from triage.supervisors.plan.tools import Desk, Tool, use

TOOL_ROUNDS: Final = 3
"""Requests with tools in one step; a small model never says that it is ready."""
CALLS_PER_ROUND: Final = 8

Chain = Runnable[Any, Any]
Brief = Callable[[Sequence[TaskItem], Sequence[str]], str]
"""The plan, and what tools have said -> the message that shows both."""


class TaskFeedback(BaseModel):
    """What the worker of one task should know."""

    task_id: int
    text: str


class PlanDecision(Form):
    """Which tasks of the plan run now, and whether the triage is complete."""

    # The docstrings, the names and the order are part of every request: touching them un-records every cassette.
    reasoning: str
    run: Annotated[list[int], Field(max_length=8)]
    feedback: Annotated[list[TaskFeedback], Field(max_length=8)]
    all_done: bool
    confidence: float = Field(ge=0.0, le=1.0)


@dataclass(frozen=True)
class Answer:
    """A decision and what it took; `forced` when code decided in the model's place."""

    decision: PlanDecision
    corrections: int = 0
    forced: bool = False


@dataclass(frozen=True)
class Consultants:
    """The model with its tools at hand: free to use them, or bound to (`begins`) while there is no plan at all."""

    tools: tuple[Tool, ...]
    free: Chain
    begins: Chain


async def consult(asked: Consultants, system: str, brief: Brief, desk: Desk) -> tuple[Desk, list[str]]:
    """The desk after the model has used its tools, and what they said; it stops when a reply brings no new call."""
    notes: list[str] = []
    made: set[str] = set()
    for _ in range(TOOL_ROUNDS):
        chain = asked.free if desk.plan else asked.begins
        reply: AIMessage = await chain.ainvoke([SystemMessage(system), HumanMessage(brief(desk.plan, notes))])
        fresh = {repr((call["name"], call["args"])): call for call in reply.tool_calls[:CALLS_PER_ROUND]}
        fresh = {spelt: call for spelt, call in fresh.items() if spelt not in made}
        if not fresh:
            break
        made |= fresh.keys()
        for call in fresh.values():
            desk, said = use(desk, asked.tools, call["name"], call["args"])
            notes.append(said)
    return desk, notes


async def decide(chain: Chain, system: str, briefing: str, plan: Sequence[TaskItem]) -> Answer:
    """The decision, after at most one correction; if that is of no use either, everything that can run does.

    Raises:
        openai.OpenAIError: an outage. LookupError: a request nobody recorded.
    """
    messages: list[BaseMessage] = [SystemMessage(system), HumanMessage(briefing)]
    asked = messages
    for corrections in range(2):
        try:
            decision = await chain.ainvoke(asked)
        except INVALID_OUTPUT as error:
            wrong = fault(error)
        else:
            wrong = _useless(decision, plan)
            if not wrong:
                return Answer(decision, corrections)
        invalid_decision(corrections + 1, wrong)
        asked = [*messages, _correction(wrong, plan)]
    return _forced(plan)


def _useless(decision: object, plan: Sequence[TaskItem]) -> str:
    """Why nothing follows from the decision although something could run; empty if something does."""
    if not isinstance(decision, PlanDecision):
        return "the reply held no decision"
    ready = {task.task_id for task in runnable(plan)}
    if decision.all_done or not ready or ready.intersection(decision.run):
        return ""
    return f"run names no task that can run now (you wrote {decision.run})"


def _correction(wrong: str, plan: Sequence[TaskItem]) -> HumanMessage:
    ready = ", ".join(str(task.task_id) for task in runnable(plan)) or "none"
    return HumanMessage(
        f"Your last reply could not be used: {wrong}.\n"
        "Reply again with JSON that fits the schema exactly.\n"
        f"Tasks that can run now: {ready}. If the triage is complete, set all_done to true."
    )


def _forced(plan: Sequence[TaskItem]) -> Answer:
    run = [task.task_id for task in runnable(plan)]
    why = "No usable decision in two attempts: everything that can run is run."
    decision = PlanDecision(reasoning=why, run=run, feedback=[], all_done=False, confidence=0.0)
    return Answer(decision, corrections=1, forced=True)

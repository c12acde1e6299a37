"""The LLM supervisor: one structured answer per step, one correction."""

from dataclasses import dataclass
from typing import Any, Final

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable
from langchain_openai import ChatOpenAI
from pydantic import Field

from triage.findings import Form
from triage.graph_configuration import Configuration
from triage.llm import answering, resilient
from triage.state import NODES, BugTriageState, HumanExchange, Node
from triage.supervisor_context import supervisor_context
from triage.supervisors.supervisor import INVALID_OUTPUT, MakesModels, Supervise, fault
from triage.terminal_screen import invalid_decision


class SupervisorDecision(Form):
    """Who acts next in the triage, and why."""

    # The docstring, the names and the order are part of every request: touching them un-records every cassette.
    next_node: Node
    reasoning: str
    question: str | None
    question_context: str | None
    confidence: float = Field(ge=0.0, le=1.0)


@dataclass(frozen=True)
class SupervisorAnswer:
    """A decision and what it took: how many corrections, and whether code had to decide in the model's place."""

    decision: SupervisorDecision
    corrections: int = 0
    forced_fallback: bool = False


FORCED: Final = SupervisorAnswer(
    SupervisorDecision(
        next_node="writer",
        reasoning="No valid decision in two attempts: the report is written from what is known.",
        question=None,
        question_context=None,
        confidence=0.0,
    ),
    corrections=1,
    forced_fallback=True,
)

Chain = Runnable[Any, Any]


def supervisor(configuration: Configuration, toolbox: MakesModels) -> Supervise:
    """The LLM supervisor with the prompt of `configuration`."""
    chain = resilient(_structured, toolbox.models, "supervisor")
    prompt = configuration.needed_prompt

    async def supervise(state: BugTriageState) -> dict[str, Any]:
        """Ask the model who acts next."""
        context = supervisor_context(state, prompt)
        return _update(await ask(chain, [SystemMessage(prompt.system), HumanMessage(context)]))

    return supervise


async def ask(chain: Chain, messages: list[BaseMessage]) -> SupervisorAnswer:
    """The decision, after at most one correction; the forced fallback if that is invalid as well.

    Raises:
        openai.OpenAIError: an outage. LookupError: a request nobody recorded.
    """
    asked = messages
    for corrections in range(2):
        try:
            decision = await chain.ainvoke(asked)
        except INVALID_OUTPUT as error:
            wrong = fault(error)
        else:
            if isinstance(decision, SupervisorDecision):
                return SupervisorAnswer(decision, corrections)
            wrong = "the reply held no decision"
        invalid_decision(corrections + 1, wrong)
        asked = [*messages, correction(wrong)]
    return FORCED


def correction(what: str) -> HumanMessage:
    """The message that quotes the error and the allowed values; it goes after the original messages."""
    return HumanMessage(
        f"Your last reply could not be used: {what}.\n"
        "Reply again with JSON that fits the schema exactly.\n"
        f"next_node is one of: {', '.join(NODES)}."
    )


def _structured(model: ChatOpenAI) -> Chain:
    return answering(model, SupervisorDecision)


def _update(answer: SupervisorAnswer) -> dict[str, Any]:
    """The state update; the question fields count for human_input only."""
    decision = answer.decision
    update: dict[str, Any] = {
        "next_node": decision.next_node,
        "supervisor_reasoning": decision.reasoning,
        "supervisor_confidence": decision.confidence,
        "forced_fallback": answer.forced_fallback,
        "corrections": answer.corrections,
    }
    if decision.next_node == "human_input":
        question = HumanExchange(question=decision.question or "", context=decision.question_context or "")
        update |= {"pending_exchange": question, "awaiting_human": True}
    return update

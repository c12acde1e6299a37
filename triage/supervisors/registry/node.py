"""The registry supervisor: one plain chat call, one reply to read, and the end of the job where it cannot be read.

There is no second attempt: an unusable reply finishes the job at once, with the error kept in `supervisor_errors`.
"""

from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable

from triage.configuration import Configuration
from triage.llm import resilient
from triage.log import invalid_decision
from triage.state import AgentFinding, BugTriageState, HumanExchange, SupervisorError
from triage.supervisors.registry.message import message
from triage.supervisors.registry.reply import Reply, Unusable, read
from triage.supervisors.supervisor import MakesModels, Supervise


def supervisor(configuration: Configuration, toolbox: MakesModels) -> Supervise:
    """The registry supervisor with the prompt of `configuration`.

    Raises:
        openai.OpenAIError: an outage. LookupError: a request nobody recorded.
    """
    prompt = configuration.needed_prompt
    chain: Runnable[Any, BaseMessage] = resilient(lambda model: model, toolbox.models, "supervisor")

    async def supervise(state: BugTriageState) -> dict[str, Any]:
        """Ask the model for the next agent."""
        told = message(state, prompt)
        said = await chain.ainvoke([SystemMessage(prompt.system), HumanMessage(told)])
        return {"briefing": told, **update_of(state, read(said.text))}

    return supervise


def update_of(state: BugTriageState, reply: Reply | Unusable) -> dict[str, Any]:
    """The state update. The reply states no confidence, so the findings' own stands in for it."""
    update: dict[str, Any] = {
        "supervisor_confidence": confidence_of(state.findings),
        "forced_fallback": False,
        "corrections": 0,
    }
    if isinstance(reply, Unusable):
        invalid_decision(1, reply.error)
        failed = SupervisorError(iteration=state.iterations, error=reply.error)
        reasoning = f"Finished on an error: {reply.error}."
        return update | {
            "next_node": "end",
            "supervisor_reasoning": reasoning,
            "supervisor_confidence": 0.0,
            "forced_fallback": True,
            "supervisor_errors": [failed],
        }
    update |= {"next_node": reply.next_node, "supervisor_reasoning": reply.reasoning}
    if reply.next_node == "human_input":
        asked = HumanExchange(question=reply.reasoning, context=reply.input_check)
        update |= {"pending_exchange": asked, "awaiting_human": True}
    return update


def confidence_of(findings: list[AgentFinding]) -> float:
    """The confidence of the newest finding on the bug itself, 0 without one; reviews and reports are none."""
    own = [found.confidence for found in findings if found.agent_name not in ("critic", "human_input", "writer")]
    return own[-1] if own else 0.0

"""The registry supervisor: a plain chat call over a registry of agents (seed 004)."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable

from triage.agent_registry import REGISTRY, available_data, call_counts, flagged_agents, recent_history
from triage.graph_configuration import Configuration
from triage.llm import resilient
from triage.prompts.load import SupervisorPrompt
from triage.state import AgentFinding, BugTriageState, HumanExchange, Node, SupervisorError
from triage.supervisors.supervisor import MakesModels, Supervise
from triage.terminal_screen import invalid_decision

NOBODY: Final = "none"


def message(state: BugTriageState, prompt: SupervisorPrompt) -> str:
    """The human message: the task, operator's orders if any, the state, the flags, and what to reply."""
    sections = [
        f'## Task\nTriage the bug report "{state.issue_title}" until its report is written.',
        _orders(state.redirect_instructions),
        _current(state),
        f"## Flagged agents\n{', '.join(flagged_agents(state)) or NOBODY}",
        prompt.task,
    ]
    return "\n\n".join(section for section in sections if section)


def _current(state: BugTriageState) -> str:
    return (
        "## Current state\n"
        f"Available data: {json.dumps(available_data(state))}\n"
        f"Last agents called: {json.dumps(list(recent_history(state)))}\n"
        f"Calls so far: {json.dumps(call_counts(state))}"
    )


def _orders(instructions: list[str]) -> str:
    lines = [f"{n}. {text}" for n, text in enumerate(instructions, 1)]
    return "\n".join(["## Orders of the operator (follow these first)", *lines]) if lines else ""


FINISHED: Final = "finished"
_FENCE: Final = re.compile(r"^[ \t]*```[\w-]*[ \t]*$", re.MULTILINE)
# A whole string, which is kept, or a comma with nothing but a closing bracket behind it, which is not.
_STRING_OR_COMMA: Final = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])', re.DOTALL)


@dataclass(frozen=True)
class RegistryReply:
    """What the model said; `next_node` is `end` where it said finished."""

    next_node: Node
    reasoning: str
    input_check: str


@dataclass(frozen=True)
class Unusable:
    """A reply that names no next agent, and why, in words that depend on the reply alone."""

    error: str


def read(text: str) -> RegistryReply | Unusable:
    """The reply in `text`."""
    plain = without_fences(text)
    if not plain.strip():
        return Unusable("the reply was empty")
    if "{" not in plain:
        return Unusable("the reply held no JSON object")
    body = without_trailing_commas(plain[plain.index("{") :])
    try:
        said, end = json.JSONDecoder().raw_decode(body)
    except (json.JSONDecodeError, RecursionError) as error:
        return Unusable(f"the JSON of the reply is broken or cut off ({_fault(error)})")
    if re.search(r'\{\s*(?:"|\})', body[end:]):  # an object begins in what follows, complete or not
        return Unusable("the reply held two JSON objects")
    return _checked(said)


def without_fences(text: str) -> str:
    """The text without lines that open or close a Markdown code block."""
    return _FENCE.sub("", text)


def without_trailing_commas(text: str) -> str:
    """The text without commas before a closing bracket; what stands inside strings is left alone."""
    return _STRING_OR_COMMA.sub(lambda found: found[1] or "", text)


def _checked(said: Mapping[str, Any]) -> RegistryReply | Unusable:
    chosen = said.get("next_agent")
    if not isinstance(chosen, str) or not chosen.strip():
        return Unusable("the reply named no next_agent")
    name = chosen.strip()
    if name != FINISHED and name not in REGISTRY:
        return Unusable(f"the reply named an agent that is not in the registry: {name[:40]!r}")
    node = cast("Node", "end" if name == FINISHED else name)
    return RegistryReply(node, _text(said.get("reasoning")), _text(said.get("input_check")))


def _text(value: object) -> str:
    """Informational members are kept whatever their shape: models answer `input_check` with lists and objects."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _fault(error: json.JSONDecodeError | RecursionError) -> str:
    return f"{error.msg} at character {error.pos}" if isinstance(error, json.JSONDecodeError) else "nested too deeply"


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


def update_of(state: BugTriageState, reply: RegistryReply | Unusable) -> dict[str, Any]:
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

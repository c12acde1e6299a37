"""The human as a worker: the pending question interrupts the graph, the answer resumes it."""

from typing import Any

from langgraph.types import interrupt

from triage.state import BugTriageState, HumanExchange


async def human_input(state: BugTriageState) -> dict[str, Any]:
    """Wait for the answer to `pending_exchange` (the interrupt's value, a `HumanExchange`); resume with a string.

    Everything before `interrupt` runs again on resume, so nothing stands there.
    """
    asked = state.pending_exchange or HumanExchange(question="")
    answer: str = interrupt(asked)
    return {
        "human_exchanges": [asked.model_copy(update={"answer": answer})],
        "pending_exchange": None,
        "awaiting_human": False,
        "visits": ["human_input"],
        "iterations": state.iterations + 1,
    }

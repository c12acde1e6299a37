"""The guards of the `registry` supervisor: what its prompt asks for, enforced (seed 004).

They stand behind the guards of the chosen set, whose limits have the first word.
"""

from typing import Final

from triage.guards.guard import Guard, veto
from triage.registry import call_counts, flagged_agents, missing_data, provider_of
from triage.state import BugTriageState, Node, Veto, Worker

FRESH: Final[tuple[Worker, ...]] = ("codebase_search", "web_search", "critic")


def requires_met(state: BugTriageState, choice: Node) -> Veto | None:
    """An agent whose required data is missing gives way to the one that provides it, while that one is not flagged."""
    missing = [] if choice == "end" else missing_data(state, choice)
    providers = [provider for data in missing if (provider := provider_of(data))]
    able = [provider for provider in providers if provider not in flagged_agents(state)]
    return veto("requires_met", state, choice, able[0]) if able else None


def loop_guard(state: BugTriageState, choice: Node) -> Veto | None:
    """A flagged agent is not called again: the first check that has not run yet, else the writer, else the end."""
    flagged = flagged_agents(state)
    if choice not in flagged:
        return None
    called = call_counts(state)
    fresh = next((name for name in FRESH if name not in called and not missing_data(state, name)), None)
    done = state.report is not None or "writer" in flagged
    return veto("loop_guard", state, choice, "end" if done else fresh or "writer")


REGISTRY_GUARDS: Final[tuple[Guard, ...]] = (requires_met, loop_guard)

"""The graph: a supervisor decides, guards rule, one worker acts, and round again until the report is written.

The supervisor node records both the choice and where the guards sent it; the edge behind it only reads `routed_node`.
"""

from typing import Any, Final, cast

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from triage.agents import AGENTS
from triage.agents.agent import Toolbox
from triage.agents.human_input import human_input
from triage.agents.visit import worker_node
from triage.configuration import Configuration
from triage.errors import ConfigurationError
from triage.guards import GuardSet, guard_set, rule
from triage.state import DEFAULT_MAX_ITERATIONS, WORKERS, BugTriageState
from triage.supervisors import SUPERVISORS, Supervise

__all__ = ["Configuration", "TriageGraph", "build_graph", "recursion_limit", "supervisor_node"]

TriageGraph = CompiledStateGraph[BugTriageState, None, BugTriageState, BugTriageState]

_WASTED_VISITS: Final = 2
"""Visits beyond the budget that are let happen before LangGraph stops the job: the writer's, and one to show a loop."""


def recursion_limit(max_iterations: int) -> int:
    """Supersteps a job may take: two per visit (supervisor, worker), and a last word of the supervisor.

    Guard sets `none` and `prd` can loop; this is what keeps them finite (LangGraph's own limit is 10,007).
    """
    return 2 * (max_iterations + _WASTED_VISITS) + 1


def supervisor_node(configuration: Configuration, toolbox: Toolbox) -> Supervise:
    """The supervisor with its guards: ask it about any state, frozen or in flight; returns the state update.

    Raises:
        ConfigurationError: no supervisor or guard set of that name.
    """
    if configuration.supervisor not in SUPERVISORS:
        known = ", ".join(SUPERVISORS)
        raise ConfigurationError(f"no supervisor is called {configuration.supervisor!r}; choose one of {known}")
    supervise = SUPERVISORS[configuration.supervisor](configuration, toolbox)
    guards = guard_set(configuration.guards, configuration.confidence_floor)

    async def decide(state: BugTriageState) -> dict[str, Any]:
        """Choose, then rule on the choice."""
        return ruled(state, await supervise(state), guards)

    return decide


def ruled(state: BugTriageState, choice: dict[str, Any], guards: GuardSet) -> dict[str, Any]:
    """The supervisor's update with the ruling of `guards` added. Guards see the state as the choice left it."""
    ruling = rule(guards.guards, state.model_copy(update=choice), choice["next_node"])
    update = {**choice, "routed_node": ruling.routed, "vetoes": [ruling.veto] if ruling.veto else []}
    if guards.drops_overruled_question and ruling.routed != "human_input":
        update |= {"pending_exchange": None, "awaiting_human": False}
    return update


def build_graph(
    configuration: Configuration, toolbox: Toolbox, checkpointer: BaseCheckpointSaver[str] | None = None
) -> TriageGraph:
    """The compiled graph. Its recursion limit fits the default budget; for a job with another `max_iterations` pass
    `{"recursion_limit": recursion_limit(n)}` in the config.

    Raises:
        ConfigurationError: no supervisor or guard set of that name.
    """
    guards = guard_set(configuration.guards, configuration.confidence_floor)
    graph = StateGraph(BugTriageState)
    graph.add_node("supervisor", supervisor_node(configuration, toolbox))
    for name, agent in AGENTS.items():
        graph.add_node(name, cast("Supervise", worker_node(agent, toolbox)))  # langgraph wants the argument's name
    graph.add_node("human_input", human_input)
    graph.add_edge(START, "supervisor")
    graph.add_conditional_edges("supervisor", routed, {**{name: name for name in WORKERS}, "end": END})
    for name in WORKERS:
        over = name == "writer" and guards.writer_ends
        graph.add_edge(name, END if over else "supervisor")
    return graph.compile(checkpointer=checkpointer).with_config(recursion_limit=recursion_limit(DEFAULT_MAX_ITERATIONS))


def routed(state: BugTriageState) -> str:
    """Where the guards sent the job."""
    return state.routed_node or "end"

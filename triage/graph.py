"""The graph: supervisor, guards and workers; trace metadata."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Durability, interrupt
from langsmith.run_helpers import get_current_run_tree

from triage.agents import AGENTS
from triage.agents.agent import Node as Visit
from triage.agents.agent import Toolbox, worker_node
from triage.errors import ConfigurationError
from triage.graph_configuration import Configuration
from triage.guards.guard_sets import guard_set
from triage.guards.guards import GuardSet, rule
from triage.plans.plan_files import MODES, given_plan
from triage.run_options import RunOptions
from triage.state import DEFAULT_MAX_ITERATIONS, WORKERS, BugTriageState, HumanExchange, Worker
from triage.supervisors import SUPERVISORS
from triage.supervisors.plan.plan_progress import REVIEW, as_task, dispatched, fan_out, for_review, parts_of, review
from triage.supervisors.supervisor import Supervise

_TOLD: Final = {
    "next_node": "decision",
    "routed_node": "routed",
    "supervisor_confidence": "confidence",
    "forced_fallback": "forced_fallback",
}
"""Fields of a supervisor's update -> what its run calls them."""


def trace_config(job_id: str, options: RunOptions) -> dict[str, Any]:
    """The name and the tags of a job's trace. What it runs with is in its metadata, as it is kept beside the job."""
    told = {"prompt": options.prompt, "guards": options.guards, "model": options.model}
    tags = ["triage", str(options.supervisor), *(f"{name}:{value}" for name, value in told.items() if value)]
    return {"run_name": f"triage {job_id}", "tags": tags}


def tell_decision(iteration: int, update: Mapping[str, Any]) -> None:
    """Put the decision in `update` beside the run of the supervisor's visit that is being traced, if one is."""
    run = get_current_run_tree()
    if run is None:
        return
    told: dict[str, Any] = {name: update[field] for field, name in _TOLD.items() if field in update}
    vetoes = [veto.guard for veto in update.get("vetoes", ())]
    run.add_metadata({"iteration": iteration, **told, **({"vetoes": vetoes} if vetoes else {})})


TriageGraph = CompiledStateGraph[BugTriageState, None, BugTriageState, BugTriageState]

DURABILITY: Final[Durability] = "sync"
"""When a step is stored: before the next begins, so that a killed job repeats none. Graphs inside workers hear of it,
so a replay runs jobs with it as well, although it keeps nothing: what works there works here."""

STOPS: Final[dict[str, str]] = {**{name: name for name in WORKERS}, "end": END}
"""Where the supervisor may send a job."""

_WASTED_VISITS: Final = 2
"""Visits beyond the budget that are let happen before LangGraph stops the job: the writer's, and one to show a loop."""


def recursion_limit(max_iterations: int, supervisor: str = "llm") -> int:
    """Supersteps a job may take: two per visit (supervisor, worker), and a last word of the supervisor. Under a plan it
    is three, since the work and its review take five (supervisor, worker, wait, critic, wait).

    Guard sets `none` and `prd` can loop; this is what keeps them finite (LangGraph's own limit is 10,007).
    """
    return (3 if supervisor in MODES else 2) * (max_iterations + _WASTED_VISITS) + 1


def check_configuration(configuration: Configuration) -> None:
    """Check what no client and no repository is needed for: supervisor, guard set, prompt and plan.

    Raises:
        ConfigurationError: one of them does not exist, or does not fit the others.
    """
    if configuration.supervisor not in SUPERVISORS:
        known = ", ".join(SUPERVISORS)
        raise ConfigurationError(f"no supervisor is called {configuration.supervisor!r}; choose one of {known}")
    guard_set(configuration.guards, configuration.confidence_floor, configuration.supervisor)
    if configuration.supervisor in MODES:
        parts_of(configuration.needed_prompt)
        given_plan(MODES[configuration.supervisor], configuration.plan)


def supervisor_node(configuration: Configuration, toolbox: Toolbox) -> Supervise:
    """The supervisor with its guards: ask it about any state, frozen or in flight; returns the state update.

    Raises:
        ConfigurationError: no supervisor or guard set of that name.
    """
    check_configuration(configuration)
    supervise = SUPERVISORS[configuration.supervisor](configuration, toolbox)
    guards = guard_set(configuration.guards, configuration.confidence_floor, configuration.supervisor)

    async def decide(state: BugTriageState) -> dict[str, Any]:
        """Choose, then rule on the choice."""
        update = ruled(state, forced(await supervise(state), configuration.forced.get(state.iterations)), guards)
        tell_decision(state.iterations, update)
        return dispatched(state, update) if configuration.supervisor in MODES else update

    return decide


def forced(choice: dict[str, Any], node: str | None) -> dict[str, Any]:
    """The choice with another node, if one is forced, and without its question. Raises ConfigurationError."""
    if node == "human_input":
        raise ConfigurationError("it needs a question, and only choices are forced")
    return {**choice, "next_node": node, "pending_exchange": None, "awaiting_human": False} if node else choice


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
    guards = guard_set(configuration.guards, configuration.confidence_floor, configuration.supervisor)
    graph = StateGraph(BugTriageState)
    graph.add_node("supervisor", supervisor_node(configuration, toolbox))
    graph.add_edge(START, "supervisor")
    own = configuration.prompt.agent_texts if configuration.prompt else {}
    toolbox = replace(toolbox, prompts={**own, **toolbox.prompts})
    workers: dict[Worker, Visit] = {name: worker_node(agent, toolbox) for name, agent in AGENTS.items()}
    workers["human_input"] = human_input
    connect = _connect_plan if configuration.supervisor in MODES else _connect
    connect(graph, workers, configuration, guards)
    limit = recursion_limit(DEFAULT_MAX_ITERATIONS, configuration.supervisor)
    return graph.compile(checkpointer=checkpointer).with_config(recursion_limit=limit)


Workers = Mapping[Worker, Visit]


def _connect(graph: Any, workers: Workers, _configuration: Configuration, guards: GuardSet) -> None:  # noqa: ANN401 - LangGraph's builder is generic in four unexported ways
    """One worker at a time, and back to the supervisor."""
    for name, visit in workers.items():
        graph.add_node(name, visit)
    graph.add_conditional_edges("supervisor", routed, STOPS)
    for name in WORKERS:
        over = name == "writer" and guards.writer_ends
        graph.add_edge(name, END if over else "supervisor")


def _connect_plan(graph: Any, workers: Workers, configuration: Configuration, guards: GuardSet) -> None:  # noqa: ANN401 - see _connect
    """All tasks of a step side by side, then a critic for each result, then back to the supervisor."""
    for name, visit in workers.items():
        graph.add_node(name, as_task(visit, configuration.plan_limits))
    graph.add_node(REVIEW, review)
    graph.add_conditional_edges("supervisor", fan_out, STOPS)
    for name in WORKERS:
        graph.add_edge(name, REVIEW)
    judge = for_review(configuration, writer_ends=guards.writer_ends)
    graph.add_conditional_edges(REVIEW, judge, {"critic": "critic", "supervisor": "supervisor", "end": END})


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


def routed(state: BugTriageState) -> str:
    """Where the guards sent the job."""
    return state.routed_node or "end"

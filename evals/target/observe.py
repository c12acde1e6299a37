"""Steps and decisions of a run, read from LangGraph's stream (`tasks` and `values`, subgraphs included)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from langgraph.pregel import Pregel
from langgraph.types import Interrupt
from pydantic import Field, JsonValue
from pydantic_core import to_jsonable_python

from evals.models.base import Closed
from evals.models.trace import GraphNames
from evals.target.http_capture import ToolCall
from evals.target.tools import langchain_tools

END: Final = "__end__"
START: Final = "__start__"
_MESSAGES: Final = frozenset({"human", "ai", "tool", "system"})


class Step(Closed):
    """One run of one node, one call of a LangChain `tool`, or a model's `call` of any other tool, which the graph's own
    code answers. `path` are the nodes of the outer graphs that it ran in. Steps with the same `superstep` in the same
    run of a graph ran side by side. `agent` is the agent's name, if it has one. A tool is `recorded` whose result came
    from a cassette, or went there."""

    kind: Literal["node", "tool", "call"] = "node"
    name: str
    path: tuple[str, ...] = ()
    superstep: int = 0
    agent: str = ""
    arguments: dict[str, JsonValue] = Field(default_factory=dict)
    recorded: bool = False
    error: str | None = None
    below: int | None = None
    """Place among all steps of the tool call, or else the node, that its graph ran in; None for the outermost."""


class RouterChoice(Closed):
    """One choice of a router: the nodes that ran next in its graph, or the tools that it called; several if they ran
    side by side, `__end__` if none. `step` is the index of the router's step among those of nodes, `node` its node;
    `state` what its graph's state was, where that was asked for."""

    router: str
    node: str = ""
    state: JsonValue = None
    path: tuple[str, ...] = ()
    step: int
    chosen: tuple[str, ...]
    by: Literal["edge", "tool"] = "edge"


@dataclass
class _Task:
    id: str
    namespace: tuple[str, ...]
    name: str
    superstep: int
    agent: str
    done: bool = False
    interrupted: bool = False
    error: str | None = None
    calls: Sequence[Mapping[str, Any]] = ()
    state: Any = None

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools that it calls."""
        return tuple(str(call["name"]) for call in self.calls)


def json_of(value: object) -> JsonValue:
    """A value as JSON: messages, pydantic models and dataclasses as mappings, anything else that is no JSON as text.

    Messages lose their `id`: LangChain makes a new one in every run.
    """
    return _without_message_ids(to_jsonable_python(value, fallback=str, inf_nan_mode="strings"))


def _without_message_ids(value: Any) -> JsonValue:  # noqa: ANN401 - JSON
    if isinstance(value, dict):
        is_message = value.get("type") in _MESSAGES and "additional_kwargs" in value
        return {name: _without_message_ids(each) for name, each in value.items() if not (is_message and name == "id")}
    return [_without_message_ids(each) for each in value] if isinstance(value, list) else value


def names_of(graph: Pregel[Any, Any, Any, Any]) -> GraphNames:
    """Members of the graph's state; nodes of the graph and its subgraphs, and tools of their tool nodes."""
    members = graph.stream_channels_asis
    graphs = [graph, *(inner for _, inner in graph.get_subgraphs(recurse=True) if isinstance(inner, Pregel))]
    nodes = [(name, node.bound) for each in graphs for name, node in each.nodes.items() if name != START]
    tools = {str(tool) for _, bound in nodes for tool in getattr(bound, "tools_by_name", ())}
    return GraphNames(
        members=() if isinstance(members, str) else tuple(sorted(members)),
        steps=tuple(sorted({name for name, _ in nodes} | tools)),
    )


def one_line(error: BaseException) -> str:
    """Type and first lines of an error: those of pydantic name the field in the second, and why in the third."""
    return " ".join(" ".join(f"{type(error).__name__}: {error}".splitlines()[:3]).split())[:500]


@dataclass
class Observer:
    """Sees the events of a stream; `routers` are the nodes, or agents by name, whose choice is a decision."""

    routers: frozenset[str]
    values: Any = None
    names: GraphNames = field(default_factory=GraphNames)
    interrupts: tuple[Interrupt, ...] = ()
    asked: list[tuple[JsonValue, JsonValue]] = field(default_factory=list)
    keeps_states: bool = False
    next_nodes: tuple[str, ...] = ()
    """What would have run after a router that was asked alone."""
    _states: dict[tuple[str, ...], Any] = field(default_factory=dict)
    _tasks: dict[str, _Task] = field(default_factory=dict)
    _superstep: dict[tuple[str, ...], int] = field(default_factory=dict)
    _ended: set[tuple[str, ...]] = field(default_factory=set)

    def see(self, event: tuple[tuple[str, ...], str, Any]) -> None:
        """One event: namespace, stream mode, data."""
        namespace, mode, data = event
        if mode == "values":
            self._states[namespace] = data
            if not namespace:
                self._see_values(data)
        elif "input" in data:
            self._start(namespace, data)
        else:
            self._finish(data)

    def unfinished(self) -> str:
        """The innermost node that is still running or has failed, empty if there is none."""
        running = [task for task in self._tasks.values() if not task.done or task.error]
        deepest = max(running, key=lambda task: len(task.namespace), default=None)
        return "/".join((*_path(deepest.namespace), deepest.name)) if deepest else ""

    def steps(self, calls: Iterable[ToolCall]) -> tuple[Step, ...]:
        """Nodes in the order they started, each followed by the tools that it called: LangChain tools where they run,
        others where the model calls them."""
        by_task: dict[str, list[ToolCall]] = {}
        for call in calls:
            by_task.setdefault(call.task if call.task in self._tasks else "", []).append(call)
        steps: list[Step] = []
        seen: set[object] = set()
        places: dict[str, int] = {}
        for task in self._tasks.values():
            path, made = _path(task.namespace), by_task.pop(task.id, [])
            below = places.get(task.namespace[-1].partition(":")[2]) if task.namespace else None
            places[task.id] = len(steps) + (len(made) == 1)  # of several calls, which started a graph is not told
            fields: dict[str, Any] = {"superstep": task.superstep, "agent": task.agent, "below": below}
            steps.append(Step(name=task.name, path=path, error=task.error, **fields))
            steps.extend(_tool_step(call, (*path, task.name), **fields) for call in made)
            for asked in task.calls:
                if asked["name"] not in langchain_tools and asked["id"] not in seen:
                    fields["arguments"] = json_of(asked["args"])
                    steps.append(Step(kind="call", name=asked["name"], path=(*path, task.name), **fields))
                seen.add(asked["id"])  # a later node may return the same message
        steps.extend(_tool_step(call, call.path) for call in by_task.pop("", ()))
        return tuple(steps)

    def decisions(self) -> tuple[RouterChoice, ...]:
        """What the routers chose, in order. A router that has not come to its end has chosen nothing."""
        found = []
        for place, task in enumerate(self._tasks.values()):
            if not ({task.name, task.agent} & self.routers) or not task.done or task.interrupted or task.error:
                continue
            if task.agent in self.routers and task.name not in self.routers and task.name != "model":
                continue  # the other nodes of an agent's own graph
            by: Literal["edge", "tool"] = "tool" if task.tools else "edge"
            path = _path(task.namespace)
            router = task.agent if task.agent in self.routers else task.name
            chosen = task.tools or self._after(task)
            made = RouterChoice(router=router, node=task.name, path=path, step=place, chosen=chosen, by=by)
            found.append(made.model_copy(update={"state": json_of(task.state)}) if self.keeps_states else made)
        return tuple(found)

    def _after(self, router: _Task) -> tuple[str, ...]:
        """The nodes of the next superstep in the same run of the same graph. LangGraph does not tell which of several
        nodes side by side sent for them, so a router gets those of its neighbours too."""
        after = [
            task.name
            for task in self._tasks.values()
            if task.namespace == router.namespace and task.superstep == router.superstep + 1
        ]
        return tuple(after) or self.next_nodes or (END,)

    def _see_values(self, data: Any) -> None:  # noqa: ANN401 - the graph's own state
        if isinstance(data, Mapping) and "__interrupt__" in data:
            self.interrupts = tuple(data["__interrupt__"])
            data = {name: value for name, value in data.items() if name != "__interrupt__"}
            if not data:
                return
        self.values = data

    def _start(self, namespace: tuple[str, ...], data: Mapping[str, Any]) -> None:
        known = self._tasks.get(data["id"])
        if known is not None:  # once more, after an interrupt: LangGraph gives it the same id
            self._superstep[namespace] = known.superstep
            self._ended.discard(namespace)
        elif namespace in self._ended or namespace not in self._superstep:
            self._superstep[namespace] = self._superstep.get(namespace, -1) + 1
            self._ended.discard(namespace)
        agent = str((data.get("metadata") or {}).get("lc_agent_name") or "")
        task = _Task(data["id"], namespace, data["name"], self._superstep[namespace], agent)
        is_sent = "__pregel_push" in data.get("triggers", ())  # by Send, with an input of its own
        task.state = data["input"] if is_sent else self._states.get(namespace)
        self._tasks[data["id"]] = task

    def _finish(self, data: Mapping[str, Any]) -> None:
        task = self._tasks.get(data["id"])
        if task is None:
            return
        task.done = True
        task.interrupted = bool(data.get("interrupts"))
        error = data.get("error")
        task.error = None if error is None else (one_line(error) if isinstance(error, BaseException) else str(error))
        task.calls = _tools_called(data.get("result"))
        self._ended.add(task.namespace)


def _path(namespace: Sequence[str]) -> tuple[str, ...]:
    return tuple(part.partition(":")[0] for part in namespace)


def _tool_step(call: ToolCall, path: tuple[str, ...], **fields: Any) -> Step:  # noqa: ANN401 - fields of its node
    own: dict[str, Any] = {"arguments": call.arguments, "recorded": call.recorded, "error": call.error}
    return Step(kind="tool", name=call.tool, path=path, **fields, **own)


def _tools_called(result: object) -> Sequence[Mapping[str, Any]]:
    """Calls of tools in the last message of a node's result; `id` is the message's too: some servers number the calls
    of each message."""
    values = result.values() if isinstance(result, Mapping) else ()
    messages = [each for value in values for each in (value if isinstance(value, list | tuple) else [value])]
    last = messages[-1] if messages else None
    return [{**call, "id": (getattr(last, "id", None), call["id"])} for call in getattr(last, "tool_calls", None) or ()]

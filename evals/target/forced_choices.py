"""Choices that are forced in the place of a router's: only where it goes is another, never what it says."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from langgraph.pregel import Pregel
from langgraph.pregel._runner import PregelRunner

from evals.cassettes.calls_and_misses import body_of
from evals.models.case import END
from evals.target.http_capture import TargetTrial, current_trial

_GOES_TO: Final = "branch:to:"
_SENDS: Final = "__pregel_tasks"
"""Names of LangGraph's channels: edges and `Command(goto=...)` write into the first kind, `Send` into the second."""


@dataclass
class ForcedChoices:
    """Decision, counted from 0 -> the choice that is forced there. `routers` are nodes, or agents by name; `ends` are
    the nodes that each node may go on to. `decided` counts."""

    choices: Mapping[int, str]
    routers: frozenset[str]
    ends: Mapping[str, set[str]] = field(default_factory=dict)
    decided: int = -1

    def force(self, task: Any, trial: TargetTrial) -> None:  # noqa: ANN401 - a PregelExecutableTask
        """Let a router that has ended go on as is forced; what takes more than a name is refused."""
        agent = (task.config.get("metadata") or {}).get("lc_agent_name")
        if task.name not in self.routers and not (agent in self.routers and task.name == "model"):
            return
        self.decided += 1
        choice = self.choices.get(self.decided)
        values = [value if isinstance(value, list | tuple) else [value] for _, value in task.writes]
        calls = [call for each in values if each for call in getattr(each[-1], "tool_calls", None) or ()]
        if choice is None:
            return
        if calls and len(calls) == 1 and choice in tools_of(trial):
            blocks = [block for each in values for message in each for block in _blocks(message)]
            for each in (calls[0], *blocks):  # Anthropic's messages name the tool twice
                if each.get("id") == calls[0]["id"]:
                    each["name"] = choice
        elif calls or any(channel == _SENDS for channel, _ in task.writes):
            trial.refuse(f"{task.name} calls tools or sends input, which takes more than another name")
        elif choice not in self.ends.get(task.name, set()) | {END}:
            trial.refuse(f"{task.name} cannot go on to it, or not without arguments")
        else:
            kept = [write for write in task.writes if not write[0].startswith(_GOES_TO)]
            task.writes.clear()
            task.writes.extend([*kept, *([] if choice == END else [(f"{_GOES_TO}{choice}", None)])])


def ends_of(graph: Pregel[Any, Any, Any, Any]) -> dict[str, set[str]]:
    """Node -> the nodes that its edges and commands may lead to, in the graph and its subgraphs."""
    found: dict[str, set[str]] = {}
    for each in (graph, *(inner for _, inner in graph.get_subgraphs(recurse=True))):
        for edge in each.get_graph().edges:
            found.setdefault(edge.source, set()).add(edge.target)
    return found


def tools_of(trial: TargetTrial) -> set[str]:
    """Names of the tools that models were offered, in the shapes of OpenAI's and Anthropic's requests."""
    ledger = trial.tape.ledger
    requests = [*(found.request for found in ledger.served), *(body_of(miss.body) for miss in ledger.misses)]
    tools = (tool for request in requests for tool in request.get("tools") or ())
    named = (tool.get("function") or tool for tool in tools if isinstance(tool, Mapping))
    return {str(tool["name"]) for tool in named if isinstance(tool, Mapping) and "name" in tool}


def forcing_hook() -> tuple[type, str, Callable[[Any], Any]]:
    """The method of LangGraph that takes what a node has written, and its wrapper."""

    def wrap(original: Any) -> Any:  # noqa: ANN401 - a method
        def commit(self: Any, task: Any, exception: BaseException | None) -> Any:  # noqa: ANN401
            trial = current_trial.get()
            if trial is not None and trial.forced is not None and exception is None:
                trial.forced.force(task, trial)
            return original(self, task, exception)

        return commit

    return PregelRunner, "commit", wrap


def _blocks(message: object) -> list[dict[str, Any]]:
    content = getattr(message, "content", None)
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []

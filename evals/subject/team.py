"""A variant's team: the graph, its models and chains, ready for any case.

Putting a team together costs as much as several of its answers, and depends on the variant alone. What differs from
trial to trial reaches it from outside: the tape by its own context variable, the code to search by the one here, the
state by a thread of the checkpointer that is gone when the trial is. So a replay keeps its teams.
"""

import evals.subject.offline  # noqa: F401 - before LangGraph and LangSmith

# isort: split
import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from langgraph.checkpoint.memory import InMemorySaver

from evals.models.suite import Variant
from evals.subject.clients import Clients
from evals.subject.prompt import configuration_of
from evals.subject.settings import settings_of
from triage.agents.agent import Toolbox
from triage.checkpoints import serializer
from triage.codebase.index import CodebaseIndex
from triage.graph import Configuration, TriageGraph, build_graph, supervisor_node
from triage.llm import HttpClients, ModelFactory
from triage.plans import MODES
from triage.prompts import SupervisorPrompt
from triage.state import BugTriageState
from triage.supervisors import Supervise
from triage.supervisors.plan import has_a_say

NOW: Final = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
"""When every trial takes place, recorded or replayed: a model that asks for the time must not get another answer."""

KEPT: Final = 64
"""Teams that clients keep: all variants of a suite, and most points of a sweep."""

_searched: Final[ContextVar[CodebaseIndex]] = ContextVar("searched")


@contextmanager
def searching(index: CodebaseIndex) -> Iterator[None]:
    """Inside the block every team searches `index`, in this task and those started from it."""
    token = _searched.set(index)
    try:
        yield
    finally:
        _searched.reset(token)


@dataclass(frozen=True)
class Team:
    """The graph of one variant. Trials may share it, one after the other or side by side."""

    configuration: Configuration
    toolbox: Toolbox

    @cached_property
    def graph(self) -> TriageGraph:
        """The compiled graph; whoever runs it takes a thread of its own, and calls `forget` at the end."""
        return build_graph(self.configuration, self.toolbox, self._memory)

    @cached_property
    def decide(self) -> Supervise:
        """The supervisor under its guards, to be asked about one state."""
        return supervisor_node(self.configuration, self.toolbox)

    def has_a_say(self, state: BugTriageState) -> bool:
        """Whether the supervisor, asked about this state, has workers to choose between; only a plan leaves it none."""
        return self.configuration.supervisor not in MODES or has_a_say(self.configuration, state)

    @cached_property
    def topology(self) -> str:
        """The compiled graph's edges, sorted, as one line: what the baseline is comparable under."""
        return topology_of(self.graph)

    @cached_property
    def _memory(self) -> InMemorySaver:
        return InMemorySaver(serde=serializer())

    def forget(self, thread: str) -> None:
        """Drop what the checkpointer knows of a thread."""
        self._memory.delete_thread(thread)


def team_of(variant: Variant, clients: Clients, prompt: SupervisorPrompt | None = None) -> Team:
    """The team of `variant`: where the clients keep them that of an earlier trial, of the same variant and prompt.
    `prompt` is its prompt where that was read before.

    Raises:
        ConfigurationError: a prompt or guard set does not exist.
    """
    configuration = configuration_of(variant, prompt)
    kept = clients.teams
    if kept is None:
        return _assembled(variant, configuration, clients)
    # a prompt file may change under its name within a process
    key = variant.model_dump_json(), configuration.prompt.digest if configuration.prompt else ""
    if key not in kept:
        if len(kept) == KEPT:
            del kept[next(iter(kept))]
        kept[key] = _assembled(variant, configuration, clients)
    return kept[key]


def _assembled(variant: Variant, configuration: Configuration, clients: Clients) -> Team:
    settings = settings_of(variant.models)
    doors = HttpClients(clients.openai, clients.openai_async, clients.tavily_async)
    models = ModelFactory(settings, doors, clients.finish, refused=not clients.lasting)
    return Team(configuration, Toolbox(settings, doors, models, lambda _name: _searched.get(), lambda: NOW))


def topology_of(graph: Any) -> str:  # noqa: ANN401 - LangGraph's compiled graph is generic in four unexported ways
    """The edges of a compiled graph, sorted, as one line."""
    edges = graph.get_graph().edges
    return "; ".join(sorted(f"{edge.source}->{edge.target}" for edge in edges))

"""The graph of a variant (team, settings, simulated user), and its edges, state and prompts for lint."""

import datetime as dt
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from langgraph.checkpoint.memory import InMemorySaver
from pydantic import ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

import evals.triage.offline_environment  # noqa: F401 - before LangGraph and LangSmith
import triage.prompts
from evals.models.case import Question, ScriptedAnswer
from evals.models.suite import Models, Variant
from evals.triage.dataset.lint_types import Surroundings
from evals.triage.trial_clients import Clients, replay_clients
from evals.triage.variant_prompts import configuration_of, worker_texts
from triage.agents.agent import Toolbox
from triage.checkpoints import serializer
from triage.codebase.index import CodebaseIndex
from triage.graph import TriageGraph, build_graph, supervisor_node
from triage.graph_configuration import Configuration
from triage.llm import HttpClients, ModelFactory
from triage.plans.plan_files import MODES
from triage.prompts.load import SupervisorPrompt
from triage.settings import Settings
from triage.state import WORKERS, BugTriageState
from triage.supervisors.plan.plan_supervisor import has_a_say
from triage.supervisors.supervisor import Supervise

BASE_URL: Final = "http://llm.invalid/v1"
TAVILY_BASE_URL: Final = "http://tavily.invalid"
AGENTS: Final = ("supervisor", *WORKERS)


class SuiteSettings(Settings):
    """Settings that read nothing but their arguments; a mapping in `TRIAGE_…` would be laid under ours."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - pydantic-settings passes all five by name
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The arguments."""
        return (init_settings,)


def settings_of(models: Models) -> Settings:
    """Settings that depend on the suite alone: the environment of the machine must not change a request."""
    return SuiteSettings(
        base_url=BASE_URL,
        api_key="not-needed",
        tavily_base_url=TAVILY_BASE_URL,
        tavily_api_key="not-needed",
        timeout_s=600,
        max_output_tokens=models.max_output_tokens,
        models={agent: models.agents.get(agent, models.default) for agent in AGENTS},
        fallbacks=dict.fromkeys(AGENTS, models.fallback),
        agent_urls={},
        retry_jitter=False,
    )


# isort: split

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
    read = (configuration.prompt.digest if configuration.prompt else "", *worker_texts(variant).values())
    key = variant.model_dump_json(), "\0".join(read)
    if key not in kept:
        if len(kept) == KEPT:
            del kept[next(iter(kept))]
        kept[key] = _assembled(variant, configuration, clients)
    return kept[key]


def _assembled(variant: Variant, configuration: Configuration, clients: Clients) -> Team:
    settings = settings_of(variant.models)
    doors = HttpClients(clients.openai, clients.openai_async, clients.tavily_async)
    models = ModelFactory(settings, doors, clients.finish, refused=not clients.lasting)
    prompts = worker_texts(variant)
    return Team(
        configuration, Toolbox(settings, doors, models, lambda _name: _searched.get(), lambda: NOW, prompts=prompts)
    )


def topology_of(graph: Any) -> str:  # noqa: ANN401 - LangGraph's compiled graph is generic in four unexported ways
    """The edges of a compiled graph, sorted, as one line."""
    edges = graph.get_graph().edges
    return "; ".join(sorted(f"{edge.source}->{edge.target}" for edge in edges))


def answer_to(question: str, script: Question, given: Collection[str | None] = ()) -> tuple[str, str | None]:
    """The scripted answer whose keywords the question touches most, and its topic; ties go to the earlier one.

    Nobody says the same thing twice: topics that were `given` are left out, and whatever else is asked gets the honest
    word that the user does not know.

    Returns:
        (answer, topic); topic is None when nothing matches and the user does not know.
    """
    text = question.casefold()
    touched = [(_hits(text, item), item) for item in script.answers if item.topic not in given]
    best = max(touched, key=lambda pair: pair[0], default=(0, None))
    hits, item = best
    if item is None or hits == 0:
        return script.dont_know, None
    return item.answer, item.topic


def _hits(text: str, item: ScriptedAnswer) -> int:
    """How many keywords stand in the text, each from the start of a word: "ttl" is in "ttls", and not in "little"."""
    keywords = (re.escape(keyword.strip().casefold()) for keyword in item.keywords)
    return sum(re.search(rf"(?<!\w){keyword}", text) is not None for keyword in keywords)


_ANY: Variant = Variant(name="any", prompt="v1", models=Models(default="none", fallback="none"))


def surroundings() -> Surroundings:
    """The graph as it is now, under the default guards."""
    return Surroundings(
        prompts=Path(triage.prompts.__file__).parent, validate_state=what_is_wrong_with, edges=steps_between_workers()
    )


def what_is_wrong_with(fields: Mapping[str, Any]) -> str | None:
    """The first thing that keeps `fields` from being a state of the graph; None if they are one."""
    try:
        BugTriageState.model_validate(dict(fields))
    except ValidationError as error:
        first = error.errors()[0]
        return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
    return None


def steps_between_workers() -> frozenset[tuple[str, str]]:
    """The steps the compiled graph allows from visit to visit, the supervisor in between left out."""
    drawn = team_of(_ANY, replay_clients()).graph.get_graph().edges
    edges = {(edge.source.strip("_"), edge.target.strip("_")) for edge in drawn}
    before = {source for source, target in edges if target == "supervisor"}
    after = {target for source, target in edges if source == "supervisor"}
    direct = {(source, target) for source, target in edges if "supervisor" not in (source, target)}
    return frozenset(direct | {(source, target) for source in before for target in after})

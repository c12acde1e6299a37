"""The judge's access to a model."""

import evals.triage.offline_environment  # noqa: F401 - before LangGraph and LangSmith

# isort: split
from dataclasses import dataclass
from typing import TypeVar

from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel

from evals.models.judge import AGENT
from evals.models.suite import Models
from evals.triage.trial_clients import Clients
from evals.triage.variant_graph import SuiteSettings, settings_of
from triage.llm import HttpClients, ModelFactory, answering

Schema = TypeVar("Schema", bound=BaseModel)


class JudgeSettings(SuiteSettings):
    """A suite's settings for an agent that the team does not know."""

    judge: str

    def model_of(self, agent: str, *, fallback: bool = False) -> str:  # noqa: ARG002 - it has one model
        """The judge's model."""
        return self.judge


@dataclass(frozen=True)
class JudgeClient:
    """A judge over the given clients, ready to be asked."""

    factory: ModelFactory

    async def ask(self, system: str, human: str, schema: type[Schema]) -> Schema:
        """An answer as an instance of `schema`. Raises whatever the SDK, LangChain and pydantic raise."""
        chain = answering(self.factory.chat(AGENT), schema)
        return await chain.ainvoke([SystemMessage(system), HumanMessage(human)])


def ask_judge(clients: Clients, models: Models) -> JudgeClient:
    """The judge that a suite names, which asks over the clients as the agents do."""
    told = settings_of(models).model_dump()
    settings = JudgeSettings(**told, judge=models.of(AGENT))
    doors = HttpClients(clients.openai, clients.openai_async, clients.tavily_async)
    return JudgeClient(ModelFactory(settings, doors, clients.finish, refused=not clients.lasting))

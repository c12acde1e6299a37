"""The graph for LangGraph's own tools (`langgraph.json` names this): settings from the environment, no repository.

TRIAGE_REPO may name a checkout; without one the codebase search has no source to read. The server brings its own
checkpointer, and keeps the clients open as long as it runs.
"""

import logging
import os
from pathlib import Path
from typing import Final

from triage.agents.agent import Toolbox
from triage.codebase.embed import MiniLM
from triage.codebase.index import CodebaseIndex
from triage.configuration import Configuration
from triage.graph import TriageGraph, build_graph
from triage.live import index_of_repository, now, settings_from_environment
from triage.llm import ModelFactory, live_clients
from triage.prompts import load_supervisor_prompt

_LOG: Final = logging.getLogger(__name__)


async def make_graph() -> TriageGraph:
    """The default configuration, built inside the server's event loop."""
    settings = settings_from_environment()
    repository = os.environ.get("TRIAGE_REPO")
    index = (
        await index_of_repository(Path(repository), _LOG.warning) if repository else CodebaseIndex.build(None, MiniLM())
    )
    clients = live_clients(settings)
    toolbox = Toolbox(settings, clients, ModelFactory(settings, clients), lambda _repository: index, now)
    return build_graph(Configuration(prompt=load_supervisor_prompt("v3")), toolbox)

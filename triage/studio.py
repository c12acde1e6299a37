"""The graph for LangGraph's own tools (`langgraph.json` names this): settings from the environment, supervisor `llm`.

TRIAGE_REPO may name a checkout; without one the codebase search has no source to read. The server asks for the graph
with every request and forbids whatever blocks its loop, so all of it is built in a thread, once for each loop. The
clients stay open as long as the server runs; it brings its own checkpointer.
"""

import asyncio
import logging
import os
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Final

from triage.agents.agent import Toolbox
from triage.codebase.embed import MiniLM
from triage.codebase.index import CodebaseIndex
from triage.configuration import Configuration
from triage.graph import TriageGraph, build_graph
from triage.live import can_search, index_of_repository, now, settings_from_environment
from triage.llm import ModelFactory, live_clients
from triage.prompts import load_supervisor_prompt

_LOG: Final = logging.getLogger(__name__)
_graphs: Final[dict[asyncio.AbstractEventLoop, asyncio.Task[TriageGraph]]] = {}
_indexing: Final = Lock()


async def make_graph() -> TriageGraph:
    """The default configuration; the same graph for everybody who asks in the same loop.

    Raises:
        TriageError: the environment is not that of a deployment; the next request tries again.
    """
    loop = asyncio.get_running_loop()
    made = _graphs.get(loop)
    if made is None or (made.done() and made.exception() is not None):
        made = _graphs[loop] = loop.create_task(asyncio.to_thread(_build))
    return await asyncio.shield(made)


def _build() -> TriageGraph:
    settings = settings_from_environment()
    with _indexing:
        index = _index(os.environ.get("TRIAGE_REPO"))
    clients = live_clients(settings)
    models = ModelFactory(settings, clients)
    toolbox = Toolbox(settings, clients, models, lambda _repository: index, now, searches=can_search(settings))
    return build_graph(Configuration(prompt=load_supervisor_prompt("v3")), toolbox)


@cache
def _index(repository: str | None) -> CodebaseIndex:
    if not repository:
        return CodebaseIndex.build(None, MiniLM())
    return asyncio.run(index_of_repository(Path(repository), _LOG.warning))

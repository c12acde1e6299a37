"""The graph for LangGraph's own tools (`langgraph.json` names this): settings from the environment, supervisor `llm`.

TRIAGE_REPO may name a checkout, and TRIAGE_PATH a folder of it; without a checkout the codebase search has no source to
read. The server asks for the graph
with every request and forbids whatever blocks its loop, so all of it is built in a thread, once for each loop. The
clients stay open as long as the server runs. Its threads are stored as `triage run` stores jobs: the server's own
checkpointer does not know the types of the state, and warns that it will refuse them in a later version.
"""

import asyncio
import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Final

from triage.agents.agent import Toolbox
from triage.checkpoints import JobSaver, open_jobs
from triage.codebase.embed import MiniLM
from triage.codebase.index import CodebaseIndex
from triage.codebase.source_files import sources_of
from triage.graph import TriageGraph, build_graph
from triage.graph_configuration import Configuration
from triage.live_graph import can_search, index_of_repository, now, settings_from_environment
from triage.llm import ModelFactory, live_clients
from triage.private_files import private_folder
from triage.prompts.load import load_supervisor_prompt
from triage.run_options import DEFAULT_PROMPTS
from triage.settings import DEFAULT_JOBS

JOBS: Final = DEFAULT_JOBS.with_name("studio.sqlite")
_LOG: Final = logging.getLogger(__name__)
_graphs: Final[dict[asyncio.AbstractEventLoop, asyncio.Task[TriageGraph]]] = {}
_indexing: Final = Lock()


@asynccontextmanager
async def stored_jobs() -> AsyncIterator[JobSaver]:
    """Where the server stores its threads, below the folder it was started in."""
    await asyncio.to_thread(private_folder, JOBS.parent)
    async with open_jobs(JOBS) as jobs:
        yield jobs


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
        index = _index(os.environ.get("TRIAGE_REPO"), os.environ.get("TRIAGE_PATH"))
    clients = live_clients(settings)
    models = ModelFactory(settings, clients)
    toolbox = Toolbox(settings, clients, models, lambda _repository: index, now, searches=can_search(settings))
    return build_graph(Configuration(prompt=load_supervisor_prompt(DEFAULT_PROMPTS["llm"])), toolbox)


@cache
def _index(repository: str | None, folder: str | None) -> CodebaseIndex:
    if not repository:
        return CodebaseIndex.build(None, MiniLM())
    sources = sources_of([Path(repository)], [folder] if folder else [])
    return asyncio.run(index_of_repository(sources, _LOG.warning))

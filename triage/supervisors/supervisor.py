"""What a supervisor is: given a configuration and models, an answer to the question who acts next."""

import datetime as dt
from collections.abc import Callable
from typing import Any, Protocol

from triage.codebase.index import CodebaseIndex
from triage.configuration import Configuration
from triage.llm import ModelFactory
from triage.state import BugTriageState


class Supervise(Protocol):
    """Reads a state, frozen or in flight, and returns the update of its choice: `next_node` and what goes with it.

    Where the graph then goes (`routed_node`) is the guards' business, see `triage.graph.supervisor_node`.
    """

    async def __call__(self, state: BugTriageState) -> dict[str, Any]:
        """Ask who acts next."""


class MakesModels(Protocol):
    """All a supervisor with a model needs of the toolbox."""

    @property
    def models(self) -> ModelFactory:
        """Where chat models come from."""

    @property
    def clock(self) -> Callable[[], dt.datetime]:
        """What time it is, for a model that asks."""


class Tools(MakesModels, Protocol):
    """All that any supervisor needs of the toolbox."""

    @property
    def index_of(self) -> Callable[[str], CodebaseIndex]:
        """Repository name -> its index, against which citations are checked."""


Supervisor = Callable[[Configuration, Tools], Supervise]

"""The interface of a supervisor, and invalid answers of its model."""

import datetime as dt
import json
from collections.abc import Callable
from typing import Any, Final, Protocol

from langchain_openai.chat_models.base import OpenAIRefusalError
from openai import ContentFilterFinishReasonError, LengthFinishReasonError
from pydantic import ValidationError

from triage.codebase.index import CodebaseIndex
from triage.graph_configuration import Configuration
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


# ValueError covers broken JSON, a broken schema and an empty reply; no error of the HTTP client is one.
INVALID_OUTPUT: Final = (
    ValueError,
    OpenAIRefusalError,
    LengthFinishReasonError,
    ContentFilterFinishReasonError,
)


def fault(error: Exception) -> str:
    """What was wrong, in words that depend on the reply alone: no ids, usage counts or library versions, since the
    words become part of the next request."""
    match error:
        case ValidationError():
            return "; ".join(f"{_place(found['loc'])}: {found['msg']}" for found in error.errors())
        case json.JSONDecodeError():
            return f"it is not JSON ({error.msg} at character {error.pos})"
        case OpenAIRefusalError():
            return "it was a refusal"
        case LengthFinishReasonError():
            return "it was cut off at the length limit; be brief"
        case ContentFilterFinishReasonError():
            return "it was stopped by the content filter"
        case _:
            return "it was empty"


def _place(location: tuple[int | str, ...]) -> str:
    return ".".join(map(str, location)) or "reply"

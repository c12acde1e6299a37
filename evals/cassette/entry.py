"""What a cassette file may hold, member by member, once every request has its whole body again.

Extra members stand only where stock vcrpy and pytest-recording ignore them.
"""

from typing import Annotated, Literal

from pydantic import Field, Strict

from evals.cassette.bounds import MAX_MODEL, MAX_TOKENS
from evals.models.closed import Closed

Headers = dict[Literal["content-type"], Annotated[tuple[str, ...], Field(min_length=1, max_length=1)]]


Count = Annotated[int, Strict(), Field(ge=0)]
"""`true` is none, though Python takes it for 1."""
Tokens = Annotated[int, Strict(), Field(ge=0, le=MAX_TOKENS)]


class Usage(Closed):
    """Tokens as the server counted them; 0 where it did not say."""

    prompt_tokens: Tokens = 0
    completion_tokens: Tokens = 0


class Meta(Closed):
    """`x_meta`: what VCR has no place for. `latency_ms` and `recorded_at` (ISO 8601, UTC) are of the recording."""

    key: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    agent: Annotated[str, Field(min_length=1)]
    sample: Count = 0
    model: Annotated[str, Field(max_length=MAX_MODEL)]
    recorded_at: str
    latency_ms: Annotated[float, Strict(), Field(ge=0)] = 0.0
    usage: Usage
    response_sha256: str
    recorded_by: str | None = None


class RequestPart(Closed):
    """A request; `body` is JSON text."""

    method: str
    uri: str
    body: str
    headers: Headers


class Status(Closed):
    """Only success is ever recorded."""

    code: Annotated[int, Strict(), Field(ge=200, le=299)]
    message: str


class BodyPart(Closed):
    """VCR wraps the response text in a mapping."""

    string: str


class ResponsePart(Closed):
    """An answer; `body.string` is JSON text."""

    status: Status
    headers: Headers
    body: BodyPart


class Entry(Closed):
    """One interaction as the file spells it."""

    request: RequestPart
    response: ResponsePart
    x_meta: Meta


class Replay(Closed):
    """The file's own account of itself."""

    schema_: Annotated[Count, Field(alias="schema")]
    count: Count
    canonicalisation: Count


class Document(Closed):
    """A whole file."""

    x_replay: Replay
    interactions: tuple[Entry, ...]
    version: Literal[1]

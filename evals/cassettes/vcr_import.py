"""Cassettes written by stock vcrpy or pytest-recording, read as our own interactions."""

from datetime import UTC
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from pydantic import BaseModel, ValidationError

from evals.cassettes.cassette_schema import line_of, plain
from evals.cassettes.interaction import Interaction
from evals.cassettes.live_answer import HttpReply, usable, usage_of
from evals.cassettes.player import asked
from evals.cassettes.request_key import parse_json
from evals.errors import CassetteError, RecordingError
from evals.secrets.secret_filter import redact_request, redact_response

UNDATED: Final = "1970-01-01T00:00:00+00:00"
"""vcrpy keeps no time of recording; an answer without a `date` header counts as old."""
Headers = dict[str, list[str] | str]


class _Request(BaseModel):
    method: str
    uri: str
    body: str | bytes | None
    headers: Headers


class _Body(BaseModel):
    string: str | bytes


class _Status(BaseModel):
    code: int


class _Response(BaseModel):
    status: _Status
    headers: Headers
    body: _Body


class _Entry(BaseModel):
    request: _Request
    response: _Response


class _Document(BaseModel):
    interactions: list[_Entry]


def stock_interactions(path: Path, recorded_by: str) -> list[Interaction]:
    """What a stock VCR file holds, redacted; equal requests become samples in the order they stand.

    Raises:
        CassetteError: no VCR file, or an exchange a replay could not serve (a failure, a stream, no JSON).
    """
    try:
        text = path.read_bytes().decode()
        entries = _Document.model_validate(plain(text, path)).interactions
    except OSError as error:
        raise CassetteError(path, f"cannot be read ({error.strerror}); name a VCR cassette") from error
    except (UnicodeDecodeError, ValidationError):
        raise CassetteError(path, "no VCR cassette; name a YAML file that vcrpy or pytest-recording wrote") from None
    found: list[Interaction] = []
    for number, entry in enumerate(entries):
        try:
            interaction = _interaction(entry, recorded_by)
        except RecordingError as error:
            line = line_of(text, ("interactions", number))
            raise CassetteError(path, f"cannot be taken over: {error}", line) from error
        sample = sum(interaction.key == other.key for other in found)
        found.append(interaction.model_copy(update={"sample": sample}))
    return found


def _interaction(entry: _Entry, recorded_by: str) -> Interaction:
    url = urlsplit(entry.request.uri)
    target = url.path + (f"?{url.query}" if url.query else "")
    request = asked(entry.request.method, target.encode(), _flat(entry.request.headers), _bytes(entry.request.body))
    body = _object(request.body)
    headers = _flat(entry.response.headers)
    reply = HttpReply(entry.response.status.code, headers.get("content-type", ""), _bytes(entry.response.body.string))
    answer = redact_response(url.path, usable(request, reply))
    return Interaction(
        key=request.key,
        agent=request.agent,
        model=str(answer.get("model") or request.model),
        method=request.method,
        uri=request.path,
        request=redact_request(body),
        status=reply.status,
        response=answer,
        recorded_at=_dated(headers.get("date", "")),
        usage=usage_of(answer),
        recorded_by=recorded_by,
    )


def _object(body: bytes) -> dict[str, Any]:
    try:
        value = parse_json(body)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise RecordingError("a request whose body is no JSON object")
    return value


def _flat(headers: Headers) -> dict[str, str]:
    """One value per name, names in lower case."""
    return {name.lower(): value if isinstance(value, str) else ", ".join(value) for name, value in headers.items()}


def _dated(header: str) -> str:
    try:
        return parsedate_to_datetime(header).astimezone(UTC).isoformat(timespec="seconds")
    except ValueError:
        return UNDATED


def _bytes(body: str | bytes | None) -> bytes:
    return body.encode() if isinstance(body, str) else body or b""

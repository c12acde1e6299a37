"""Differences between two states of a cassette, the union of two recordings, and adoption of foreign interactions."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC
from difflib import unified_diff
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ValidationError

from evals.cassettes.cassette_data import Cassette, Interaction
from evals.cassettes.cassette_schema import line_of, plain
from evals.cassettes.live_answer import HttpReply, usable, usage_of
from evals.cassettes.player import asked
from evals.cassettes.request_key import parse_json
from evals.cassettes.transcript import lines_of, title
from evals.errors import CassetteError, RecordingError
from evals.secret_filter import redact_request, redact_response

_PASSING: Final = frozenset(
    {"id", "created", "system_fingerprint", "service_tier", "usage", "response_time", "request_id"}
)
"""Members of an answer that differ between two tellings of the same thing; nothing downstream reads them."""


@dataclass(frozen=True)
class Change:
    """One interaction of which the two sides differ; `before` is None when it came, `after` when it went."""

    kind: Literal["came", "went", "answered anew", "recorded again"]
    before: Interaction | None
    after: Interaction | None

    @property
    def interaction(self) -> Interaction:
        """The side there is; the later one of two."""
        found = self.after or self.before
        assert found is not None  # noqa: S101 - a change has at least one side
        return found


def changes(before: Cassette, after: Cassette) -> list[Change]:
    """Everything that differs, in the order of the file."""
    old, new = by_name(before), by_name(after)
    both = Cassette(after.path, (new | old).values()).interactions
    names = [(found.key, found.sample) for found in both]
    return [change for name in names if (change := _change(old.get(name), new.get(name)))]


def by_name(cassette: Cassette) -> dict[tuple[str, int], Interaction]:
    """The interactions by what makes them one: key and sample."""
    return {(found.key, found.sample): found for found in cassette.interactions}


def same_answer(one: Interaction, other: Interaction) -> bool:
    """Whether both say the same; the answer's number, its time and its token counts say nothing."""
    return _said(one) == _said(other)


def described(change: Change) -> Iterator[str]:
    """The change as lines: the whole transcript of what came, the heading of what went, a diff of two answers."""
    yield f"{change.kind}: {title(change.interaction).removeprefix('=== ')}"
    if change.kind == "came":
        yield from (f"+ {line}" for text in list(lines_of(change.interaction))[1:] for line in text.splitlines())
    if change.before is not None and change.after is not None:
        yield from _answers(change.before, change.after)


def _change(before: Interaction | None, after: Interaction | None) -> Change | None:
    if before is None or after is None:
        return Change("came" if before is None else "went", before, after)
    if before == after:
        return None
    return Change("recorded again" if same_answer(before, after) else "answered anew", before, after)


def _answers(before: Interaction, after: Interaction) -> Iterator[str]:
    """From the answer's heading on, which holds model, tokens and time."""
    old, new = ("\n".join(list(lines_of(side))[-2:]).splitlines() for side in (before, after))
    yield from list(unified_diff(old, new, n=1, lineterm=""))[2:]


def _said(interaction: Interaction) -> dict[str, Any]:
    return {name: member for name, member in interaction.response.items() if name not in _PASSING}


@dataclass(frozen=True)
class Conflict:
    """One request, one sample, two answers, and no base that says which one is new."""

    ours: Interaction
    theirs: Interaction


@dataclass(frozen=True)
class Union:
    """The merged interactions; those in conflict are left out."""

    interactions: tuple[Interaction, ...]
    conflicts: tuple[Conflict, ...]


def union(base: Cassette, ours: Cassette, theirs: Cassette) -> Union:
    """All interactions of both sides; an answer that only one side replaced since `base` is the new one."""
    mine, other, old = by_name(ours), by_name(theirs), by_name(base)
    settled: list[Interaction] = []
    conflicts: list[Conflict] = []
    for name in sorted(mine | other):
        found = _settled(old.get(name), mine.get(name), other.get(name))
        if isinstance(found, Conflict):
            conflicts.append(found)
        else:
            settled.append(found)
    return Union(Cassette(ours.path, settled).interactions, tuple(conflicts))


def _settled(base: Interaction | None, ours: Interaction | None, theirs: Interaction | None) -> Interaction | Conflict:
    if ours is None or theirs is None:
        return next(side for side in (ours, theirs) if side is not None)
    if theirs in (ours, base):
        return ours
    if ours == base:
        return theirs
    if same_answer(ours, theirs):
        return min(ours, theirs, key=lambda side: (side.recorded_at, side.body, side.latency_ms))  # whoever merges whom
    return Conflict(ours, theirs)


def preferring(merged: Union, side: str) -> Iterator[Interaction]:
    """All interactions, with every conflict settled for "ours" or "theirs"."""
    yield from merged.interactions
    yield from (conflict.ours if side == "ours" else conflict.theirs for conflict in merged.conflicts)


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

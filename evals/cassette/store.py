"""A cassette: the recorded interactions of one case, one file, shared by all variants.

Loading trusts nothing: every key is computed again, every answer is checked against its digest, every text is scanned
for secrets. Writing is a merge under a lock: what is recorded stays, the order is fixed, the replacement is atomic.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import unquote

from pydantic import Field

from evals.cassette import disk, vcr_file
from evals.cassette.allowed_secrets import FILE as ALLOWED_FILE
from evals.cassette.allowed_secrets import AllowedSecrets, allowed_beside
from evals.cassette.key import parse_json, request_key
from evals.cassette.redact import SecretFinding, scan, scan_text, scrub, sightings
from evals.cassette.secret_rules import Sighting
from evals.cassette.vcr_file import Entry, Usage
from evals.errors import CassetteError, SecretFoundError
from evals.models.closed import Closed

ORIGIN: Final = "http://recorded.invalid"
"""Stands for whatever host was asked. Stock vcrpy matches with `match_on=[method, path, query, body]`, or with its
defaults plus body if the client's base URL is this one."""
CONTENT_TYPE: Final = "application/json"


class Interaction(Closed):
    """A request and its answer. `uri` is the path with its query; `request` and `response` are JSON objects."""

    key: str
    agent: str
    sample: Annotated[int, Field(ge=0)] = 0
    model: str
    method: str = "POST"
    uri: str
    request: dict[str, Any]
    status: Annotated[int, Field(ge=200, le=299)] = 200
    content_type: str = CONTENT_TYPE
    response: dict[str, Any]
    recorded_at: str
    usage: Usage = Usage()
    latency_ms: Annotated[float, Field(ge=0)] = 0.0
    recorded_by: str | None = None

    @cached_property
    def body(self) -> bytes:
        """The answer as bytes, the same text as in the file."""
        return vcr_file.json_text(self.response).encode()

    @property
    def body_sent(self) -> bytes:
        """The request's body as bytes, redacted."""
        return vcr_file.json_text(self.request).encode()


class Cassette:
    """The interactions of one file. `exists` tells "no file" from "a file with nothing in it"."""

    def __init__(self, path: Path, interactions: Iterable[Interaction] = (), *, exists: bool = True) -> None:
        self.path = path
        self.exists = exists
        self.interactions = tuple(sorted(interactions, key=_order))
        self._samples = {(interaction.key, interaction.sample): interaction for interaction in self.interactions}

    def exact(self, key: str, sample: int = 0) -> Interaction | None:
        """The answer recorded as this very sample: another one in its place would make five samples out of one."""
        return self._samples.get((key, sample))

    def union(self, others: Iterable[Interaction]) -> "Cassette":
        """This cassette and what it lacks; an answer that is here stays."""
        merged = {(other.key, other.sample): other for other in others}
        merged |= {(own.key, own.sample): own for own in self.interactions}
        return Cassette(self.path, merged.values(), exists=self.exists)


def load(path: Path) -> Cassette:
    """The cassette at `path`, empty if there is no file. Raises CassetteError or SecretFoundError."""
    content = disk.read(path)
    return Cassette(path, exists=False) if content is None else read(content, path)


def read(content: bytes, path: Path) -> Cassette:
    """The cassette in a file's bytes; `path` is what errors call it. Raises CassetteError or SecretFoundError."""
    text = disk.decoded(content, path)
    allowed = allowed_beside(path)
    _refuse_planted(path, text, allowed)
    entries = vcr_file.parse(text, path)
    interactions = [_checked(path, text, index, entry, allowed) for index, entry in enumerate(entries)]
    _refuse_duplicates(path, text, interactions)
    _refuse_disorder(path, text, interactions)
    return Cassette(path, interactions)


def merge_write(path: Path, new: Sequence[Interaction], *, replace: bool = False) -> Cassette:
    """Adds interactions to the file and returns all it holds now. What is there stays, unless it is to be replaced.

    Safe against other writers (lock, re-read) and against a kill at any moment (temporary file, fsync, replace).
    Raises SecretFoundError before anything is written, CassetteError if the file there cannot be trusted or the system
    refuses to write it.
    """
    allowed = allowed_beside(path)
    for interaction in new:
        _refuse_secrets(path, interaction, allowed)
    with disk.writing(path):
        there = load(path)
        merged = Cassette(path, new).union(there.interactions) if replace else there.union(new)
        if not there.exists or merged.interactions != there.interactions:
            disk.replace(path, rendered(merged))
    return merged


def drop(path: Path, names: Collection[tuple[str, int]]) -> Cassette:
    """Takes the interactions with these keys and samples out of the file, and returns what it still holds."""
    with disk.writing(path):
        there = load(path)
        kept = Cassette(path, (found for found in there.interactions if (found.key, found.sample) not in names))
        disk.replace(path, rendered(kept))
    return kept


def discard(path: Path, accepted: Cassette) -> bool:
    """Removes the file if all it holds is in `accepted`; whether it is gone. No writer comes in between.

    Raises CassetteError if the file cannot be trusted or removed.
    """
    with disk.writing(path):
        known = {(found.key, found.sample) for found in accepted.interactions}
        if any((found.key, found.sample) not in known for found in load(path).interactions):
            return False
        path.unlink(missing_ok=True)
    return True


def rendered(cassette: Cassette) -> str:
    """The text of the cassette's file: the only one these interactions may have."""
    return vcr_file.render([_entry(interaction) for interaction in cassette.interactions])


def refuse_secret_request(path: Path, uri: str, agent: str, model: str, body: Mapping[str, Any]) -> None:
    """Raises SecretFoundError if a request must not be kept: better said before it is sent and paid for."""
    allowed = allowed_beside(path)
    meta = _meta(uri, agent=agent, model=model)
    _refuse(path, [*scan(body, "request", allowed), *scan(meta, "x_meta", allowed)], agent)


def seen_in(cassette: Cassette) -> Iterator[Sighting]:
    """Everything in a cassette that looks like a secret, allowed or not: what an allow-list is needed for."""
    for interaction in cassette.interactions:
        for part, name in _parts(interaction):
            yield from (sighting for _, sighting in sightings(part, name))


def _order(interaction: Interaction) -> tuple[str, str, int]:
    return interaction.agent, interaction.key, interaction.sample


def _entry(interaction: Interaction) -> Entry:
    headers = {"content-type": (interaction.content_type,)}
    answer = vcr_file.json_text(interaction.response)
    request = {
        "method": interaction.method,
        "uri": ORIGIN + interaction.uri,
        "body": vcr_file.json_text(interaction.request),
        "headers": headers,
    }
    response = {
        "status": {"code": interaction.status, "message": "OK"},
        "headers": headers,
        "body": {"string": answer},
    }
    meta = interaction.model_dump(include=set(vcr_file.Meta.model_fields))
    meta["response_sha256"] = vcr_file.digest(answer)
    return Entry.model_validate({"request": request, "response": response, "x_meta": meta})


def _checked(path: Path, text: str, index: int, entry: Entry, allowed: AllowedSecrets) -> Interaction:
    """The interaction of an entry that is what it says it is."""

    def wrong(message: str, *location: str) -> CassetteError:
        return CassetteError(path, message, vcr_file.line_of(text, ("interactions", index, *location)))

    if not entry.request.uri.startswith(ORIGIN + "/"):
        raise wrong(f"the request's uri does not start with {ORIGIN}/; restore the file", "request", "uri")
    if not entry.request.method.isupper():  # the key is that of the method in capitals
        raise wrong("the request's method is not in capitals; restore the file", "request", "method")
    uri = entry.request.uri.removeprefix(ORIGIN)
    try:
        request, response = parse_json(entry.request.body), parse_json(entry.response.body.string)
    except ValueError:
        raise wrong("a body is not JSON: edited by hand or cut; restore the file", "request", "body") from None
    if not isinstance(request, dict) or not isinstance(response, dict):
        raise wrong("a body is no JSON object; restore the file", "request", "body")
    if request_key(entry.request.method, uri, entry.request.body.encode()) != entry.x_meta.key:
        raise wrong("the key is not that of the request: edited by hand; record it again", "x_meta", "key")
    if vcr_file.digest(entry.response.body.string) != entry.x_meta.response_sha256:
        raise wrong("the answer is not the one recorded: edited by hand; restore it", "response", "body")
    if entry.response.headers["content-type"] != (CONTENT_TYPE,):
        raise wrong(f"the answer's content type is not {CONTENT_TYPE}; restore the file", "response", "headers")
    interaction = Interaction(
        **entry.x_meta.model_dump(exclude={"response_sha256"}),
        method=entry.request.method,
        uri=uri,
        request=request,
        status=entry.response.status.code,
        response=response,
    )
    _refuse_secrets(path, interaction, allowed, (text, index))
    return interaction


def _refuse_duplicates(path: Path, text: str, interactions: Sequence[Interaction]) -> None:
    seen: set[tuple[str, int]] = set()
    for index, found in enumerate(interactions):
        if (found.key, found.sample) in seen:
            line = vcr_file.line_of(text, ("interactions", index))
            message = f"sample {found.sample} of request {found.key[:12]} is there twice: merged by hand; keep one"
            raise CassetteError(path, message, line)
        seen.add((found.key, found.sample))


def _refuse_disorder(path: Path, text: str, interactions: Sequence[Interaction]) -> None:
    """The order is part of the bytes: an agent or a sample that was changed by hand mostly breaks it."""
    for index, (before, after) in enumerate(pairwise(interactions), 1):
        if _order(after) < _order(before):
            line = vcr_file.line_of(text, ("interactions", index))
            raise CassetteError(path, "not sorted by agent, key and sample: edited by hand; restore the file", line)


def _refuse_planted(path: Path, text: str, allowed: AllowedSecrets) -> None:
    """Before anything else is said of a file: a key anywhere in it, even in a comment, must not stay there."""
    for rule, offset in scan_text(text, allowed):
        line = text.count("\n", 0, offset) + 1
        raise SecretFoundError(path, f"{rule}: a secret must not stand here; revoke it, and restore the file", line)


def _refuse_secrets(
    path: Path, interaction: Interaction, allowed: AllowedSecrets, where: tuple[str, int] | None = None
) -> None:
    found = [finding for part, name in _parts(interaction) for finding in scan(part, name, allowed)]
    line = vcr_file.line_of(where[0], ("interactions", where[1])) if found and where else None
    _refuse(path, found, interaction.agent, line)


def _parts(interaction: Interaction) -> tuple[tuple[object, str], ...]:
    """All that is written of an interaction, with its JSON path, but for digests and numbers."""
    words = {"method", "agent", "model", "content_type", "recorded_by", "recorded_at"}
    meta = _meta(interaction.uri, **interaction.model_dump(include=words))
    return (interaction.request, "request"), (interaction.response, "response"), (meta, "x_meta")


def _meta(uri: str, **words: str | None) -> dict[str, object]:
    """The URI is read as it is written and as it is meant (`%40` is an @)."""
    return {"uri": [uri, unquote(uri)], **words}


def _refuse(path: Path, findings: Sequence[SecretFinding], agent: str, line: int | None = None) -> None:
    for found in findings[:1]:
        message = (
            f"{found.rule} at {found.json_path} of a request by {scrub(agent)}: remove it at its source, or, if it is "
            f"no secret, allow sha256 {found.sha256} in cassettes/{ALLOWED_FILE}"
        )
        raise SecretFoundError(path, message, line)

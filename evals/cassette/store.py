"""A cassette: the recorded interactions of one case, one file, shared by all variants.

Loading trusts nothing: every key is computed again, every answer is checked against its digest, every text is scanned
for secrets. Writing is a merge under a lock: what is recorded stays, the order is fixed, the replacement is atomic.
"""

import os
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from filelock import FileLock
from pydantic import Field

from evals.cassette import vcr_file
from evals.cassette.key import parse_json, request_key
from evals.cassette.redact import scan, scan_text
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
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return Cassette(path, exists=False)
    return read(content, path)


def read(content: bytes, path: Path) -> Cassette:
    """The cassette in a file's bytes; `path` is what errors call it. Raises CassetteError or SecretFoundError."""
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise CassetteError(path, f"not UTF-8 at byte {error.start}, or truncated; restore the file") from None
    _refuse_planted(path, text)
    entries = vcr_file.parse(text, path)
    interactions = [_checked(path, text, index, entry) for index, entry in enumerate(entries)]
    _refuse_duplicates(path, text, interactions)
    return Cassette(path, interactions)


def merge_write(path: Path, new: Sequence[Interaction], *, replace: bool = False) -> Cassette:
    """Adds interactions to the file and returns all it holds now. What is there stays, unless it is to be replaced.

    Safe against other writers (lock, re-read) and against a kill at any moment (temporary file, fsync, replace).
    Raises SecretFoundError before anything is written, CassetteError if the file there cannot be trusted.
    """
    for interaction in new:
        _refuse_secrets(path, interaction)
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_name(f".{path.name}.lock")):
        there = load(path)
        merged = Cassette(path, new).union(there.interactions) if replace else there.union(new)
        if not there.exists or merged.interactions != there.interactions:
            replace_file(path, rendered(merged))
    return merged


def drop(path: Path, names: Collection[tuple[str, int]]) -> Cassette:
    """Takes the interactions with these keys and samples out of the file, and returns what it still holds."""
    with FileLock(path.with_name(f".{path.name}.lock")):
        there = load(path)
        kept = Cassette(path, (found for found in there.interactions if (found.key, found.sample) not in names))
        replace_file(path, rendered(kept))
    return kept


def rendered(cassette: Cassette) -> str:
    """The text of the cassette's file: the only one these interactions may have."""
    return vcr_file.render([_entry(interaction) for interaction in cassette.interactions])


def _order(interaction: Interaction) -> tuple[str, str, int]:
    return interaction.agent, interaction.key, interaction.sample


def replace_file(path: Path, text: str) -> None:
    """Writes a file as a whole: whoever reads it, and whenever a kill comes, finds the old text or the new one."""
    temporary = path.with_name(f".{path.name}.tmp")  # one name: a killed writer's rest is overwritten
    with temporary.open("wb") as stream:
        stream.write(text.encode())
        stream.flush()
        os.fsync(stream.fileno())
    temporary.replace(path)
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)  # the rename itself has to reach the disk
    finally:
        os.close(directory)


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


def _checked(path: Path, text: str, index: int, entry: Entry) -> Interaction:
    """The interaction of an entry that is what it says it is."""

    def wrong(message: str, *location: str) -> CassetteError:
        return CassetteError(path, message, vcr_file.line_of(text, ("interactions", index, *location)))

    if not entry.request.uri.startswith(ORIGIN + "/"):
        raise wrong(f"the request's uri does not start with {ORIGIN}/; restore the file", "request", "uri")
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
    interaction = Interaction(
        **entry.x_meta.model_dump(exclude={"response_sha256"}),
        method=entry.request.method,
        uri=uri,
        request=request,
        status=entry.response.status.code,
        content_type=entry.response.headers["content-type"][0],
        response=response,
    )
    _refuse_secrets(path, interaction, (text, index))
    return interaction


def _refuse_duplicates(path: Path, text: str, interactions: Sequence[Interaction]) -> None:
    seen: set[tuple[str, int]] = set()
    for index, found in enumerate(interactions):
        if (found.key, found.sample) in seen:
            line = vcr_file.line_of(text, ("interactions", index))
            message = f"sample {found.sample} of request {found.key[:12]} is there twice: merged by hand; keep one"
            raise CassetteError(path, message, line)
        seen.add((found.key, found.sample))


def _refuse_planted(path: Path, text: str) -> None:
    """Before anything else is said of a file: a key anywhere in it, even in a comment, must not stay there."""
    for rule, offset in scan_text(text):
        line = text.count("\n", 0, offset) + 1
        raise SecretFoundError(path, f"{rule}: a secret must not stand here; revoke it, and restore the file", line)


def _refuse_secrets(path: Path, interaction: Interaction, where: tuple[str, int] | None = None) -> None:
    findings = [
        *scan(interaction.request, "request"),
        *scan(interaction.response, "response"),
        *scan(
            {
                "uri": urlsplit(interaction.uri).query,
                "agent": interaction.agent,
                "model": interaction.model,
                "recorded_by": interaction.recorded_by,
            },
            "x_meta",
        ),
    ]
    if findings:
        first = findings[0]
        message = f"{first.rule} at {first.json_path} of a request by {interaction.agent}: remove it at its source"
        line = vcr_file.line_of(where[0], ("interactions", where[1])) if where else None
        raise SecretFoundError(path, message, line)

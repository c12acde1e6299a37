"""No secret enters a cassette, and none is read from one: what is looked at, and what is said when one is found."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from evals.cassette.allowed_secrets import FILE as ALLOWED_FILE
from evals.cassette.allowed_secrets import AllowedSecrets, allowed_beside
from evals.cassette.borrowed import SourceTree, tree_for
from evals.cassette.entry import Entry
from evals.cassette.interaction import Cassette, Interaction
from evals.cassette.redact import SecretFinding, scan, scan_text, scrub, sightings, unsuspicious
from evals.cassette.yaml_text import line_of
from evals.errors import SecretFoundError
from triage.secrecy.rules import Sighting


def refuse_planted(path: Path, text: str, allowed: AllowedSecrets) -> None:
    """Before anything else is said of a file: a key anywhere in it, even in a comment, must not stay there."""
    for rule, offset in scan_text(text, allowed):
        line = text.count("\n", 0, offset) + 1
        raise SecretFoundError(path, f"{rule}: a secret must not stand here; revoke it, and restore the file", line)


def refuse_recorded(
    path: Path,
    text: str,
    entries: Sequence[Entry],
    interactions: Sequence[Interaction],
    allowed: AllowedSecrets,
    tree: SourceTree | None = None,
) -> None:
    """One quick look at all texts together, since they say the same again and again; then one at each, if need be."""
    if _unsuspicious(entries, interactions):
        return
    for index, (entry, interaction) in enumerate(zip(entries, interactions, strict=True)):
        if not _unsuspicious([entry], [interaction]):
            refuse_secrets(path, interaction, allowed, (text, index), tree)


def _unsuspicious(entries: Iterable[Entry], interactions: Iterable[Interaction]) -> bool:
    bodies = [body for entry in entries for body in (entry.request.body, entry.response.body.string)]
    return unsuspicious(bodies, {word for found in interactions for word in _words(found)})


def refuse_secrets(
    path: Path,
    interaction: Interaction,
    allowed: AllowedSecrets,
    where: tuple[str, int] | None = None,
    tree: SourceTree | None = None,
) -> None:
    """Raises SecretFoundError if an interaction must not be kept; `where` is the file's text and its place there. The
    lines of a released `tree` are published, and are not kept."""
    found = [finding for part, name in _parts(interaction, tree) for finding in scan(part, name, allowed)]
    line = line_of(where[0], ("interactions", where[1])) if found and where else None
    _refuse(path, found, interaction.agent, line)


def refuse_secret_request(
    path: Path, uri: str, agent: str, model: str, body: Mapping[str, Any], tree: SourceTree | None = None
) -> None:
    """Raises SecretFoundError if a request must not be kept: better said before it is sent and paid for."""
    allowed = allowed_beside(path)
    body = body if tree is None else tree.folded(body)
    meta = _meta(uri, agent=agent, model=model)
    _refuse(path, [*scan(body, "request", allowed), *scan(meta, "x_meta", allowed)], agent)


def seen_in(cassette: Cassette) -> Iterator[Sighting]:
    """Everything in a cassette that looks like a secret, allowed or not: what an allow-list is needed for."""
    tree = tree_for(cassette.path, cassette.tree) if cassette.tree else None
    for interaction in cassette.interactions:
        for part, name in _parts(interaction, tree):
            yield from (sighting for _, sighting in sightings(part, name))


def _parts(interaction: Interaction, tree: SourceTree | None = None) -> tuple[tuple[object, str], ...]:
    """All that is written of an interaction, with its JSON path, but for digests and numbers."""
    words = {"method", "agent", "model", "content_type", "recorded_by", "recorded_at"}
    meta = _meta(interaction.uri, **interaction.model_dump(include=words))
    request = interaction.request if tree is None else tree.folded(interaction.request)
    return (request, "request"), (interaction.response, "response"), (meta, "x_meta")


def _words(interaction: Interaction) -> Iterator[str]:
    """What is written of an interaction besides its bodies."""
    yield from (interaction.uri, unquote(interaction.uri), interaction.method, interaction.agent, interaction.model)
    yield from (interaction.content_type, interaction.recorded_by or "", interaction.recorded_at)


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

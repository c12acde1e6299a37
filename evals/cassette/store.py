"""A cassette: the recorded interactions of one case, one file, shared by all variants.

Loading trusts nothing: every key is computed again, every answer is checked against its digest, every text is scanned
for secrets; a replay alone may rest on that having been done before (`readings`). Writing is a merge under a lock:
what is recorded stays, the order is fixed, the replacement is atomic.
"""

from collections.abc import Collection, Sequence
from pathlib import Path

from evals.cassette import disk, vcr_file
from evals.cassette.allowed_secrets import allowed_beside
from evals.cassette.entry import Entry, Meta
from evals.cassette.interaction import ORIGIN, Cassette, Interaction
from evals.cassette.readings import Readings
from evals.cassette.trust import trusted
from evals.cassette.withhold import refuse_planted, refuse_recorded, refuse_secrets

__all__ = ["ORIGIN", "Cassette", "Interaction", "discard", "drop", "load", "merge_write", "read", "rendered"]


def load(path: Path, readings: Readings | None = None) -> Cassette:
    """The cassette at `path`, empty if there is no file. Raises CassetteError or SecretFoundError."""
    content = disk.read(path)
    return Cassette(path, exists=False) if content is None else read(content, path, readings)


def read(content: bytes, path: Path, readings: Readings | None = None) -> Cassette:
    """The cassette in a file's bytes; `path` is what errors call it. With `readings`, what was read once is not
    read again. Raises CassetteError or SecretFoundError."""
    allowed = allowed_beside(path)
    kept = readings.get(content, allowed) if readings is not None else None
    if kept is not None:
        return Cassette(path, kept)
    text = disk.decoded(content, path)
    refuse_planted(path, text, allowed)
    entries = vcr_file.parse(text, path)
    interactions = trusted(path, text, entries)
    refuse_recorded(path, text, entries, interactions, allowed)
    if readings is not None:
        readings.put(content, allowed, interactions)
    return Cassette(path, interactions)


def merge_write(path: Path, new: Sequence[Interaction], *, replace: bool = False) -> Cassette:
    """Adds interactions to the file and returns all it holds now. What is there stays, unless it is to be replaced.

    Safe against other writers (lock, re-read) and against a kill at any moment (temporary file, fsync, replace).
    Raises SecretFoundError before anything is written, CassetteError if the file there cannot be trusted or the system
    refuses to write it.
    """
    allowed = allowed_beside(path)
    for interaction in new:
        refuse_secrets(path, interaction, allowed)
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
    meta = interaction.model_dump(include=set(Meta.model_fields))
    meta["response_sha256"] = vcr_file.digest(answer)
    return Entry.model_validate({"request": request, "response": response, "x_meta": meta})

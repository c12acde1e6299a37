"""A cassette: the recorded interactions of one case, one file, shared by all variants.

Loading trusts nothing: every key is computed again, every answer is checked against its digest, every text is scanned
for secrets; a replay alone may rest on that having been done before (`readings`), and on the manifest, whose making
scanned the bytes it names (`listing`). Writing is a merge under a lock: what is recorded stays, the order is fixed, the
replacement is atomic.
"""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from evals.cassette import disk, vcr_file
from evals.cassette.allowed_secrets import allowed_beside
from evals.cassette.borrowed import SourceTree, tree_for
from evals.cassette.bounds import MAX_ANSWERS, too_many
from evals.cassette.entry import Entry, Meta
from evals.cassette.interaction import ORIGIN, Cassette, Interaction
from evals.cassette.key import parse_json
from evals.cassette.listing import is_listed
from evals.cassette.readings import Readings
from evals.cassette.trust import trusted
from evals.cassette.unfold import LIMIT
from evals.cassette.withhold import refuse_planted, refuse_recorded, refuse_secrets
from evals.cassette.yaml_text import line_of
from evals.errors import CassetteError

__all__ = [
    "ORIGIN",
    "Cassette",
    "Interaction",
    "discard",
    "drop",
    "keep_reading",
    "load",
    "merge_write",
    "read",
    "rendered",
]


def load(path: Path, readings: Readings | None = None) -> Cassette:
    """The cassette at `path`, empty if there is no file. Raises CassetteError or SecretFoundError."""
    content = disk.read(path)
    return Cassette(path, exists=False) if content is None else read(content, path, readings)


def keep_reading(path: Path, readings: Readings) -> None:
    """Read the cassette now, so that `load` need not, unless that was done before. Raises as `load` does."""
    content = disk.read(path)
    if content is not None and not readings.has(content, allowed_beside(path), listed=is_listed(path, content)):
        read(content, path, readings)


def read(content: bytes, path: Path, readings: Readings | None = None) -> Cassette:
    """The cassette in a file's bytes; `path` is what errors call it. With `readings`, what was read once is not
    read again, and what the manifest lists is not scanned. Raises CassetteError or SecretFoundError."""
    allowed = allowed_beside(path)
    listed = readings is not None and is_listed(path, content)
    kept = readings.get(content, allowed, listed=listed) if readings is not None else None
    if kept is not None:
        return Cassette(path, kept, tree=vcr_file.tree_named(content))
    text = disk.decoded(content, path)
    if not listed:
        refuse_planted(path, text, allowed)
    written, name = vcr_file.parse(text, path)
    tree = tree_for(path, name) if name else None
    entries = written if tree is None else [_whole(path, text, at, entry, tree) for at, entry in enumerate(written)]
    interactions = trusted(path, text, entries)
    if not listed:
        refuse_recorded(path, text, written, interactions, allowed, tree)
    if readings is not None:
        readings.put(content, allowed, interactions, listed=listed)
    return Cassette(path, interactions, tree=name)


def merge_write(path: Path, new: Sequence[Interaction], *, replace: bool = False, tree: str | None = None) -> Cassette:
    """Adds interactions to the file and returns all it holds now. What is there stays, unless it is to be replaced.
    `tree` names the released package that these are about.

    Safe against other writers (lock, re-read) and against a kill at any moment (temporary file, fsync, replace).
    Raises SecretFoundError before anything is written, CassetteError if the file there cannot be trusted or the system
    refuses to write it.
    """
    allowed = allowed_beside(path)
    source = tree_for(path, tree) if tree else None
    for interaction in new:
        refuse_secrets(path, interaction, allowed, tree=source)
    with disk.writing(path):
        there = load(path)
        if there.exists and there.tree != tree:
            message = f"recorded over {there.tree or 'no released package'}, the case is about {tree or 'none'}: "
            raise CassetteError(path, message + "remove the file, and record the case again")
        there.tree = tree
        merged = Cassette(path, new, tree=tree).union(there.interactions) if replace else there.union(new)
        if not there.exists or merged.interactions != there.interactions:
            if too_many(len(found.body) for found in merged.interactions) is not None:
                message = f"its answers would be over {MAX_ANSWERS:,} bytes, which is not kept: record shorter ones"
                raise CassetteError(path, message)
            disk.replace(path, rendered(merged))
    return merged


def drop(path: Path, names: Collection[tuple[str, int]]) -> Cassette:
    """Takes the interactions with these keys and samples out of the file, and returns what it still holds."""
    with disk.writing(path):
        there = load(path)
        left = [found for found in there.interactions if (found.key, found.sample) not in names]
        kept = Cassette(path, left, tree=there.tree)
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
    tree = tree_for(cassette.path, cassette.tree) if cassette.tree else None
    return vcr_file.render([_entry(interaction, tree) for interaction in cassette.interactions], cassette.tree)


def _whole(path: Path, text: str, index: int, entry: Entry, tree: SourceTree) -> Entry:
    """The entry with the lines its request refers to; one whose body is no JSON is complained of by `trusted`."""
    try:
        body = parse_json(entry.request.body)
    except ValueError:
        return entry
    if not isinstance(body, dict):
        return entry
    try:
        whole = tree.unfolded(body)
    except LookupError as error:
        message = f"{error.args[0]}: edited by hand, or another tree; restore the file"
        raise CassetteError(path, message, line_of(text, ("interactions", index, "request", "body"))) from None
    if (length := len(said := vcr_file.json_text(whole))) > LIMIT:
        raise CassetteError(path, f"a request of {length:,} characters: edited by hand; restore the file")
    return entry.model_copy(update={"request": entry.request.model_copy(update={"body": said})})


def _folded(interaction: Interaction, tree: SourceTree | None) -> dict[str, Any]:
    return interaction.request if tree is None else tree.folded(interaction.request)


def _entry(interaction: Interaction, tree: SourceTree | None = None) -> Entry:
    headers = {"content-type": (interaction.content_type,)}
    answer = vcr_file.json_text(interaction.response)
    request = {
        "method": interaction.method,
        "uri": ORIGIN + interaction.uri,
        "body": vcr_file.json_text(_folded(interaction, tree)),
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

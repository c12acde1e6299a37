"""Load and save cassettes: validation, schema migrations and a cache of parsed files."""

import platform
import re
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from evals import atomic_files as disk
from evals.cassettes import cassette_format as vcr_file
from evals.cassettes.cassette_data import CONTENT_TYPE, ORIGIN, Cassette, Interaction, order
from evals.cassettes.cassette_format import LIMIT, PIECE_MEMBER, SCHEMA, unfolded
from evals.cassettes.cassette_schema import MAX_ANSWERS, CassetteEntry, Meta, excess, line_of, plain, too_many
from evals.cassettes.manifest_lines import is_listed
from evals.cassettes.package_line_references import SourceTree, tree_for
from evals.cassettes.request_key import parse_json, parsed_request
from evals.content_cache import Kept, digest_of
from evals.errors import CassetteError
from evals.package_digests import package_digest
from evals.secret_filter import AllowedSecrets, allowed_beside, refuse_planted, refuse_recorded, refuse_secrets
from evals.shared.secrets import rule as held
from evals.source_loader import digest_of_code


def trusted(path: Path, text: str, entries: Sequence[CassetteEntry]) -> list[Interaction]:
    """The interactions of a file's entries, each what it says it is.

    Raises CassetteError with the line of the first that is not.
    """
    _refuse_too_much(path, text, entries)
    interactions = [_checked(path, text, index, entry) for index, entry in enumerate(entries)]
    _refuse_duplicates(path, text, interactions)
    _refuse_disorder(path, text, interactions)
    return interactions


def _checked(path: Path, text: str, index: int, entry: CassetteEntry) -> Interaction:
    """The interaction of an entry that is what it says it is."""

    def wrong(message: str, *location: str) -> CassetteError:
        return CassetteError(path, message, line_of(text, ("interactions", index, *location)))

    if not entry.request.uri.startswith(ORIGIN + "/"):
        raise wrong(f"the request's uri does not start with {ORIGIN}/; restore the file", "request", "uri")
    if not entry.request.method.isupper():  # the key is that of the method in capitals
        raise wrong("the request's method is not in capitals; restore the file", "request", "method")
    uri = entry.request.uri.removeprefix(ORIGIN)
    try:
        request, key = parsed_request(entry.request.method, uri, entry.request.body)
        response = parse_json(entry.response.body.string)
    except ValueError:
        raise wrong("a body is not JSON: edited by hand or cut; restore the file", "request", "body") from None
    if not isinstance(request, dict) or not isinstance(response, dict):
        raise wrong("a body is no JSON object; restore the file", "request", "body")
    if key != entry.x_meta.key:
        raise wrong("the key is not that of the request: edited by hand; record it again", "x_meta", "key")
    if vcr_file.digest(entry.response.body.string) != entry.x_meta.response_sha256:
        raise wrong("the answer is not the one recorded: edited by hand; restore it", "response", "body")
    if entry.response.headers["content-type"] != (CONTENT_TYPE,):
        raise wrong(f"the answer's content type is not {CONTENT_TYPE}; restore the file", "response", "headers")
    if found := excess(response):
        raise wrong(f"the answer has {found}; record it again", "response", "body")
    return Interaction(
        **entry.x_meta.model_dump(exclude={"response_sha256"}),
        method=entry.request.method,
        uri=uri,
        request=request,
        status=entry.response.status.code,
        response=response,
    )


def _refuse_too_much(path: Path, text: str, entries: Sequence[CassetteEntry]) -> None:
    index = too_many(len(entry.response.body.string) for entry in entries)
    if index is not None:
        message = f"the answers of one cassette are over {MAX_ANSWERS:,} characters; restore the file"
        raise CassetteError(path, message, line_of(text, ("interactions", index)))


def _refuse_duplicates(path: Path, text: str, interactions: Sequence[Interaction]) -> None:
    seen: set[tuple[str, int]] = set()
    for index, found in enumerate(interactions):
        if (found.key, found.sample) in seen:
            line = line_of(text, ("interactions", index))
            message = f"sample {found.sample} of request {found.key[:12]} is there twice: merged by hand; keep one"
            raise CassetteError(path, message, line)
        seen.add((found.key, found.sample))


def _refuse_disorder(path: Path, text: str, interactions: Sequence[Interaction]) -> None:
    """The order is part of the bytes: an agent or a sample that was changed by hand mostly breaks it."""
    for index, (before, after) in enumerate(pairwise(interactions), 1):
        if order(after) < order(before):
            line = line_of(text, ("interactions", index))
            raise CassetteError(path, "not sorted by agent, key and sample: edited by hand; restore the file", line)


FOLDER: Final = "read"
_LIBRARIES: Final = ("pydantic", "pydantic_core", "yaml")
_LEVEL: Final = 1
"""Of compression: requests repeat each other, and a tenth of the size takes less time to read than to write whole."""
_INTERACTIONS: Final = TypeAdapter(tuple[Interaction, ...])


@dataclass(frozen=True)
class Readings:
    """The kept readings in a folder."""

    folder: Path

    def get(self, content: bytes, allowed: AllowedSecrets, *, listed: bool = False) -> tuple[Interaction, ...] | None:
        """What a file of these bytes holds, if that was kept and is sound; one that is `listed` may have been scanned
        all the same, before it was."""
        kept, scanned = Kept(self.folder), self._name(content, allowed, listed=False)
        packed = (kept.get(self._name(content, allowed, listed=True)) if listed else None) or kept.get(scanned)
        try:
            return None if packed is None else _INTERACTIONS.validate_json(zlib.decompress(packed))
        except (zlib.error, ValidationError):
            return None

    def has(self, content: bytes, allowed: AllowedSecrets, *, listed: bool = False) -> bool:
        """Whether `get` has something to look at, sound or not."""
        names = {self._name(content, allowed, listed=either) for either in {listed, False}}
        return any(map(Kept(self.folder).has, names))

    def put(
        self, content: bytes, allowed: AllowedSecrets, found: Sequence[Interaction], *, listed: bool = False
    ) -> None:
        """Keep what was read and verified just now; where nothing can be written, it is read again next time."""
        try:
            packed = zlib.compress(_INTERACTIONS.dump_json(tuple(found)), _LEVEL)
        except PydanticSerializationError:  # half a character, which JSON can spell
            return
        with suppress(OSError):
            Kept(self.folder).put(self._name(content, allowed, listed=listed), packed)

    def _name(self, content: bytes, allowed: AllowedSecrets, *, listed: bool) -> str:
        """What was not scanned since the manifest lists it is no reading of the same bytes once they are not listed."""
        by = (_reader(), package_digest(self.folder.parent, *_LIBRARIES).encode())
        return digest_of(content, allowed.model_dump_json().encode(), *by, *([b"listed"] if listed else []))


@cache
def _reader() -> bytes:
    """The code that reads and verifies: this package, and what it stands on."""
    here, secrecy = Path(__file__).parent, Path(held.__file__).parent
    files = [
        *sorted(here.glob("*.py")),
        *sorted(secrecy.glob("*.py")),
        *sorted((here.parent / "secrets").glob("*.py")),
        *(
            here.parent / name
            for name in ("errors.py", "content_cache.py", "atomic_files.py", "safe_yaml.py", "models/base.py")
        ),
    ]
    return digest_of(*(digest_of_code(path).encode() for path in files), platform.python_version().encode()).encode()


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


Move = Callable[[Cassette, str], None]
in_place: Final[Move] = lambda merged, text: disk.replace(merged.path, text)  # noqa: E731


def merge_write(
    path: Path, new: Sequence[Interaction], *, replace: bool = False, tree: str | None = None, move: Move = in_place
) -> Cassette:
    """Adds interactions to the file and returns all it holds now. What is there stays, unless it is to be replaced.
    `tree` names the released package that these are about; `move` puts the new text in place.

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
            move(merged, rendered(merged))
    return merged


def drop(path: Path, names: Collection[tuple[str, int]]) -> None:
    """Takes the interactions with these keys and samples out of the file, which goes with the last one."""
    with disk.writing(path):
        there = load(path)
        left = [found for found in there.interactions if (found.key, found.sample) not in names]
        if left:
            disk.replace(path, rendered(Cassette(path, left, tree=there.tree)))
        else:
            path.unlink()


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


def _whole(path: Path, text: str, index: int, entry: CassetteEntry, tree: SourceTree) -> CassetteEntry:
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


def _entry(interaction: Interaction, tree: SourceTree | None = None) -> CassetteEntry:
    headers = {"content-type": (interaction.content_type,)}
    answer = vcr_file.json_text(interaction.response)
    request = {
        "method": interaction.method,
        "uri": ORIGIN + interaction.uri,
        "body": vcr_file.json_text(interaction.request if tree is None else tree.folded(interaction.request)),
        "headers": headers,
    }
    response = {
        "status": {"code": interaction.status, "message": "OK"},
        "headers": headers,
        "body": {"string": answer},
    }
    meta = interaction.model_dump(include=set(Meta.model_fields))
    meta["response_sha256"] = vcr_file.digest(answer)
    return CassetteEntry.model_validate({"request": request, "response": response, "x_meta": meta})


Plain = dict[str, Any]
Steps = Mapping[int, Callable[[Plain], Plain]]


def _says_things_once(data: Plain) -> Plain:
    """From schema 1, which wrote every body out: what changed is the spelling, and that is `layout`'s."""
    return data | {"x_replay": data["x_replay"] | {"schema": 2}}


MIGRATIONS: Final[Steps] = {1: _says_things_once}
_HEADER: Final = re.compile(rb"x_replay:\n  schema: (\d+)\n")


def migrate(path: Path, steps: Steps = MIGRATIONS) -> int | None:
    """Rewrites a file of an older schema in today's and returns the schema it had; None if it is of today already.

    Raises:
        CassetteError: a newer schema, one that never was, or data that does not survive; the file stays as it is.
    """
    content = path.read_bytes()
    text = disk.decoded(content, path)
    data = plain(text, path)
    found = schema_of(data, path)
    if found == SCHEMA:
        return None
    migrated = _in_todays(data, text, path, steps)
    read(migrated.encode(), path)
    disk.replace(path, migrated)
    return found


def read_any(content: bytes, path: Path) -> Cassette:
    """The cassette in a file's bytes, also of an older schema: a revision or a branch from before a migration.

    Raises CassetteError or SecretFoundError like `read`.
    """
    header = _HEADER.match(content)
    if header is None or int(header[1]) >= SCHEMA:
        return read(content, path)
    text = disk.decoded(content, path)
    refuse_planted(path, text, allowed_beside(path))
    return read(_in_todays(plain(text, path), text, path, MIGRATIONS).encode(), path)


def _in_todays(data: Plain, text: str, path: Path, steps: Steps) -> str:
    found = schema_of(data, path)
    if found > SCHEMA:
        raise CassetteError(path, f"schema {found}, and this version reads up to {SCHEMA}: update this package", 1)
    if PIECE_MEMBER in data:
        data = unfolded(data, text, path)
    for schema in range(found, SCHEMA):
        if schema not in steps:
            raise CassetteError(path, f"schema {schema}, which no step leads out of: record the case again", 1)
        data = steps[schema](data)
    return vcr_file.render(vcr_file.shaped(data, text, path))


def schema_of(data: Plain, path: Path) -> int:
    """The schema the file's header names. Raises CassetteError if it names none."""
    header = data.get("x_replay")
    version = header.get("schema") if isinstance(header, dict) else None
    if not isinstance(version, int):
        raise CassetteError(path, "no x_replay.schema: not written by this recorder, or truncated", 1)
    return version

"""The manifest `cassettes/manifest.jsonl`, one line per committed cassette, and the checks of what it lists."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from evals import atomic_files as disk
from evals.cassettes.cassette_data import Cassette
from evals.cassettes.cassette_files import load, rendered
from evals.cassettes.cassette_format import SCHEMA
from evals.cassettes.manifest_lines import AGAIN, NAME, ManifestLine, is_listed, listed
from evals.content_cache import digest_of_sha256
from evals.errors import CassetteError
from evals.secret_filter import FILE, read_allowed, seen_in


def line_of(path: Path, cassette: Cassette, text: str | None = None) -> ManifestLine:
    """The line of a cassette file that was read just now, or is to have this text."""
    content = path.read_bytes() if text is None else text.encode()
    times = sorted(found.recorded_at for found in cassette.interactions)
    return ManifestLine.model_validate(
        {
            "file": path.name,
            "sha256": hashlib.sha256(content).hexdigest(),
            "schema": SCHEMA,
            "interactions": len(cassette.interactions),
            "recorded_from": times[0] if times else "",
            "recorded_to": times[-1] if times else "",
            "models": sorted({found.model for found in cassette.interactions if found.model}),
        }
    )


def unlisted(folder: Path, replayed: Mapping[str, str]) -> tuple[str, ...]:
    """Why a replay of these cassettes rests on files that nobody vouches for, as sentences.

    Args:
        folder: where the manifest is.
        replayed: file name -> `digest_of` the bytes that were replayed, of each file that is there.

    Raises:
        CassetteError: the manifest cannot be read.
    """
    if not (folder / NAME).exists():
        return (f"{folder.name}/{NAME} is missing, which says what was recorded; restore it, or {AGAIN}",)
    due: dict[str, set[str]] = {}
    for _, line in listed(folder):
        due.setdefault(line.file, set()).add(digest_of_sha256(line.sha256))
    lacking = sorted(replayed.keys() - due.keys())
    more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
    return (
        *([f"{lacking[0]}{more}: not listed in {folder.name}/{NAME}; {AGAIN}"] if lacking else []),
        *(is_another(name) for name in sorted(replayed.keys() & due.keys()) if replayed[name] not in due[name]),
    )


def is_another(name: str) -> str:
    """What to say of a cassette that is another file than the manifest lists."""
    return f"{name} is another file than the one listed; if its change was meant, {AGAIN}"


def move_listed(merged: Cassette, text: str) -> None:
    """The `move` of `merge_write` for a committed cassette. It is listed first, so that after a kill only a file that
    somebody else changed is not listed: for that, raises CassetteError."""
    path, before = merged.path, disk.read(merged.path)
    if before is not None and not is_listed(path, before):
        raise CassetteError(path, f"not as {NAME} lists it, so nothing is added; if that is meant, {AGAIN}")
    _write(path.parent, [], [line_of(path, merged, text)])
    try:
        disk.replace(path, text)
    finally:
        enter(path)


def enter(path: Path) -> None:
    """Bring the line of one cassette up to date, after it was changed."""
    _write(path.parent, changed=[path])


def write(folder: Path) -> int:
    """Make the manifest anew from the files that are there, and return how many. Raises CassetteError."""
    found = sorted(folder.glob("*.yaml"))
    _write(folder, changed=found, keep=False)
    return len(found)


def _write(folder: Path, changed: Sequence[Path], ahead: Sequence[ManifestLine] = (), *, keep: bool = True) -> None:
    path, names = folder / NAME, {each.name for each in changed}
    with disk.writing(path):
        kept = [line for _, line in listed(folder) if line.file not in names] if keep else []
        lines = [*kept, *ahead, *(line_of(each, load(each)) for each in changed if each.exists())]
        told = (json.dumps(line.model_dump(mode="json", by_alias=True), ensure_ascii=False) for line in lines)
        text = "".join(f"{one}\n" for one in sorted(set(told)))
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            disk.replace(path, text)


@dataclass(frozen=True)
class Verified:
    """What was looked at, and what is wrong with it: one error per finding."""

    cassettes: int
    interactions: int
    findings: tuple[CassetteError, ...]

    def __add__(self, other: "Verified") -> "Verified":
        return Verified(
            self.cassettes + other.cassettes,
            self.interactions + other.interactions,
            (*self.findings, *other.findings),
        )


def verify(folder: Path, only: Sequence[str] = ()) -> Verified:
    """Look at every cassette in `folder`, or at those named (without `.yaml`); nothing is wrong with no folder."""
    wrong: list[CassetteError] = []
    try:
        lines = listed(folder)
    except CassetteError as error:
        wrong.append(error)
        lines = None
    paths = [path for path in sorted(folder.glob("*.yaml")) if not only or path.stem in only]
    sound: list[Cassette] = []
    for path in paths:
        try:
            cassette = load(path)
        except CassetteError as error:
            wrong.append(error)
            continue
        sound.append(cassette)
        wrong += _spelling(path, rendered(cassette))
        wrong += _unlisted(path, cassette, lines) if lines is not None else []
    wrong += _vanished(folder, lines or [], only)
    if not only and len(sound) == len(paths):  # what cannot be read may need what is allowed
        wrong += _stale(folder / FILE, sound)
    return Verified(len(paths), sum(len(each.interactions) for each in sound), tuple(wrong))


def _spelling(path: Path, canonical: str) -> Iterator[CassetteError]:
    """Other bytes for the same content would make two recordings of the same thing differ."""
    text = path.read_bytes().decode()
    if text == canonical:
        return
    pairs = enumerate(zip_longest(text.split("\n"), canonical.split("\n")), 1)
    line = next(number for number, (found, due) in pairs if found != due)
    yield CassetteError(path, "not spelled as recorded: edited by hand or by a tool; restore the file", line)


def _unlisted(path: Path, cassette: Cassette, lines: Sequence[tuple[int, ManifestLine]]) -> Iterator[CassetteError]:
    """A merge of two branches may leave an old line beside the new one: one that fits is enough."""
    here = [(number, line) for number, line in lines if line.file == path.name]
    listing = path.with_name(NAME)
    if not here:
        yield CassetteError(listing, f"{path.name} is not listed; {AGAIN}")
    elif line_of(path, cassette) not in [line for _, line in here]:
        yield CassetteError(listing, is_another(path.name), here[0][0])


def _vanished(folder: Path, lines: Sequence[tuple[int, ManifestLine]], only: Sequence[str]) -> Iterator[CassetteError]:
    for number, line in lines:
        if not (folder / line.file).is_file() and (not only or Path(line.file).stem in only):
            yield CassetteError(folder / NAME, f"{line.file} is listed and not there; restore it, or {AGAIN}", number)


def _stale(path: Path, cassettes: Sequence[Cassette]) -> Iterator[CassetteError]:
    """An exception that nothing needs would let in what nobody has looked at."""
    allowed = read_allowed(path)
    if not allowed.allowed:
        return
    lines = path.read_text(encoding="utf-8").splitlines()
    for entry in allowed.stale(sighting for cassette in cassettes for sighting in seen_in(cassette)):
        line = next((number for number, text in enumerate(lines, 1) if entry.sha256 in text), None)
        yield CassetteError(path, f"{entry.rule} {entry.sha256[:12]} is allowed and in no cassette; take it out", line)

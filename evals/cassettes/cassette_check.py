"""Checks of committed cassettes (`evals cassette verify`), each complaint with file and line."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from evals.cassettes import manifest
from evals.cassettes.interaction import Cassette
from evals.cassettes.manifest_lines import AGAIN, NAME, ManifestLine, listed
from evals.cassettes.store import load, rendered
from evals.errors import CassetteError
from evals.secrets.allowed_secrets import FILE, read_allowed
from evals.secrets.secret_filter import seen_in


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
    elif manifest.line_of(path, cassette) not in [line for _, line in here]:
        yield CassetteError(listing, manifest.is_another(path.name), here[0][0])


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

"""The manifest `cassettes/manifest.jsonl`: one line per committed cassette."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from evals import atomic_files as disk
from evals.cassettes.cassette_format import SCHEMA
from evals.cassettes.interaction import Cassette
from evals.cassettes.manifest_lines import AGAIN, NAME, ManifestLine, listed
from evals.cassettes.store import load
from evals.content_cache import digest_of_sha256


def line_for(path: Path) -> ManifestLine:
    """The line of a cassette file as it is now. Raises CassetteError if it cannot be trusted."""
    return line_of(path, load(path))


def line_of(path: Path, cassette: Cassette) -> ManifestLine:
    """The line of a cassette file that was read just now."""
    times = sorted(found.recorded_at for found in cassette.interactions)
    return ManifestLine.model_validate(
        {
            "file": path.name,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
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


def enter(path: Path) -> None:
    """Bring the line of one cassette up to date, after something was accepted into it."""
    _write(path.parent, changed=[path])


def write(folder: Path) -> int:
    """Make the manifest anew from the files that are there, and return how many. Raises CassetteError."""
    found = sorted(folder.glob("*.yaml"))
    _write(folder, changed=found, keep=False)
    return len(found)


def _write(folder: Path, changed: Iterable[Path], *, keep: bool = True) -> None:
    path = folder / NAME
    with disk.writing(path):
        lines = {line.file: line for _, line in listed(folder)} if keep else {}
        lines |= {each.name: line_for(each) for each in changed}
        text = "".join(_text(line) + "\n" for _, line in sorted(lines.items()))
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            disk.replace(path, text)


def _text(line: ManifestLine) -> str:
    return json.dumps(line.model_dump(mode="json", by_alias=True), ensure_ascii=False)

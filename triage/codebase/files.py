"""The text files of a repository, and why the others are left out.

`source_files` is the plain rule that recorded requests rest on. `survey` is for checkouts of any size: git says what
belongs to them, and data are told from code. Neither follows a link, and both have limits.
"""

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path, PurePosixPath
from typing import Final

from triage.aside import Told, untold
from triage.codebase.tracked import MAX_DEPTH, MAX_FILES, Listing, listed
from triage.errors import InputError

MAX_TEXT_BYTES: Final = 1_000_000_000
"""All texts together, which are held in memory; of the Linux kernel it is as much."""
MAX_FILE_BYTES: Final = 500_000
"""Larger files are data, not source."""
MAX_MARKUP_CHARS: Final = 50_000
"""Longer files of a format that holds settings as well as data are data: fixtures, recordings, generated tables."""
MARKUP: Final = frozenset({".json", ".yaml", ".yml", ".xml", ".html", ".txt"})
NOT_CODE: Final = frozenset({".csv", ".tsv", ".jsonl", ".ndjson", ".svg", ".lock", ".map", ".ipynb", ".po", ".log"})
SKIPPED: Final = frozenset({"__pycache__", "node_modules", "venv", "build", "dist", "site-packages"})


class Why(Enum):
    """Why a file, or a folder with all that is in it, is left out."""

    BINARY = "binary"
    BIG = "too big"
    NOT_CODE = "not code"
    HIDDEN = "hidden"
    GENERATED = "installed or generated"
    LINK = "links"
    UNREADABLE = "unreadable"
    BEYOND = f"beyond the limits of {MAX_FILES:,} files, {MAX_TEXT_BYTES // 10**6:,} MB and {MAX_DEPTH} folders deep"


@dataclass(frozen=True)
class Survey:
    """The texts of a checkout by path (relative, forward slashes), and how many files or folders are left out."""

    texts: Mapping[str, str]
    left_out: Mapping[Why, int]
    by_git: bool
    """Whether git said which files belong to the checkout; what it ignores is in no count."""
    fault: str = ""
    """Why git did not say so, though there is a repository."""

    def omitted(self) -> str:
        """What is left out, and how much of it."""
        ignored = ["what git ignores"] if self.by_git else []
        counts = [f"{self.left_out[why]:,} {why.value}" for why in Why if why in self.left_out]
        searched = f"; what git ignores is searched as well: {self.fault}" if self.fault else ""
        return f"{', '.join(ignored + counts) or 'nothing'}{searched}"


def source_files(root: Path) -> Iterator[tuple[str, str]]:
    """(path relative to `root`, text) of every text file, by path; hidden, generated and binary files are left out.

    Raises InputError where there are more files, or deeper ones, than a checkout may have.
    """
    left_out: Counter[Why] = Counter()
    room = MAX_TEXT_BYTES
    for name in _walked(root, left_out):
        text = _text_of(root, name)
        if isinstance(text, str):
            room -= len(text)
            yield name, text
        if left_out[Why.BEYOND] or room < 0:
            raise InputError(f"{root}: holds files {Why.BEYOND.value}; name a smaller folder")


def survey(root: Path, told: Told = untold, *, committed: bool = False) -> Survey:
    """What is to be searched in the checkout at `root`: the files that git knows or does not ignore, and where git
    cannot tell, all but hidden and generated ones. A file that cannot be read costs itself alone.

    A folder that is `committed` holds what a commit holds and nothing else: there, no name makes a file generated.
    """
    left_out: Counter[Why] = Counter()
    by_git = None if committed else listed(root)
    fault = by_git.fault if by_git else ""
    if by_git is None or fault:
        by_git, names = None, _walked(root, left_out, tracked=committed)
    else:
        names = _wanted(by_git, left_out)
    texts: dict[str, str] = {}
    room = MAX_TEXT_BYTES
    for n, name in enumerate(names):
        told("reading files", n, len(names))
        text = _code_of(root, name) if room > 0 else Why.BEYOND
        if isinstance(text, Why):
            left_out[text] += 1
        else:
            texts[name] = text
            room -= len(text)
    return Survey(texts, left_out, by_git is not None, fault)


def _walked(root: Path, left_out: Counter[Why], *, tracked: bool = False) -> list[str]:
    """The files below `root` by name; hidden and generated ones, linked ones, and folders of them, are only counted.
    The walk ends at the first file beyond the limits."""
    names: list[str] = []
    for place, folders, files in os.walk(root):
        entries = {name: _why_by_name(name, tracked=tracked) for name in (*folders, *files)}
        entries |= {name: Why.LINK for name in folders if not entries[name] and Path(place, name).is_symlink()}
        left_out.update(why for why in entries.values() if why)
        folders[:] = sorted(name for name in folders if not entries[name])
        names += [Path(place, name).relative_to(root).as_posix() for name in sorted(files) if not entries[name]]
        if folders and len(Path(place).relative_to(root).parts) + 1 >= MAX_DEPTH:
            left_out[Why.BEYOND] += len(folders)
            folders.clear()
        if len(names) > MAX_FILES:
            left_out[Why.BEYOND] += len(names) - MAX_FILES + len(folders)
            return sorted(names[:MAX_FILES])
    return sorted(names)


def _wanted(by_git: Listing, left_out: Counter[Why]) -> list[str]:
    """What git names, without what is hidden; what it does not track may be generated."""
    reasons = {name: _why_by_name(*name.split("/"), tracked=tracked) for name, tracked in by_git.files.items()}
    left_out.update(why for why in reasons.values() if why)
    counts = {Why.LINK: by_git.links, Why.UNREADABLE: by_git.unreadable, Why.BEYOND: by_git.beyond}
    left_out.update({why: count for why, count in counts.items() if count})
    return sorted(name for name, why in reasons.items() if not why)


def _why_by_name(*parts: str, tracked: bool = False) -> Why | None:
    if any(part.startswith(".") for part in parts):
        return Why.HIDDEN
    if not tracked and any(part in SKIPPED or part.endswith(".egg-info") for part in parts):
        return Why.GENERATED
    return None


def _code_of(root: Path, name: str) -> str | Why:
    """The text of a file that is not data."""
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in NOT_CODE:
        return Why.NOT_CODE
    try:
        name.encode()  # a name that is no text can stand in no request
        text = _text_of(root, name)
    except (OSError, UnicodeEncodeError):
        return Why.UNREADABLE
    too_big = suffix in MARKUP and len(text) > MAX_MARKUP_CHARS if isinstance(text, str) else False
    return Why.BIG if too_big else text


def _text_of(root: Path, name: str) -> str | Why:
    """Raises OSError where a file cannot be read."""
    path = root / name
    if path.is_symlink():
        return Why.LINK
    if not path.is_file():
        return Why.UNREADABLE
    if path.stat().st_size > MAX_FILE_BYTES:
        return Why.BIG
    with path.open("rb") as file:
        raw = file.read(MAX_FILE_BYTES + 1)  # a file of some file systems says that it is empty, and never ends
    if len(raw) > MAX_FILE_BYTES:
        return Why.BIG
    try:
        return Why.BINARY if b"\0" in raw else raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return Why.BINARY

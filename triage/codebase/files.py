"""The text files of a repository, and why the others are left out.

`source_files` is the plain rule that recorded requests rest on. `survey` is for checkouts of any size: git says what
belongs to them, and data are told from code.
"""

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path, PurePosixPath
from typing import Final

from triage.aside import Told, untold
from triage.codebase.tracked import listed

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


@dataclass(frozen=True)
class Survey:
    """The texts of a checkout by path (relative, forward slashes), and how many files or folders are left out."""

    texts: Mapping[str, str]
    left_out: Mapping[Why, int]
    by_git: bool
    """Whether git said which files belong to the checkout; what it ignores is in no count."""

    def omitted(self) -> str:
        """What is left out, and how much of it."""
        ignored = ["what git ignores"] if self.by_git else []
        counts = [f"{self.left_out[why]:,} {why.value}" for why in Why if why in self.left_out]
        return ", ".join(ignored + counts) or "nothing"


def source_files(root: Path) -> Iterator[tuple[str, str]]:
    """(path relative to `root`, text) of every text file, by path; hidden, generated and binary files are left out."""
    for name in _walked(root, Counter()):
        text = _text_of(root / name)
        if isinstance(text, str):
            yield name, text


def survey(root: Path, told: Told = untold, *, committed: bool = False) -> Survey:
    """What is to be searched in the checkout at `root`: the files that git knows or does not ignore, and where git
    cannot tell, all but hidden and generated ones. A file that cannot be read costs itself alone.

    A folder that is `committed` holds what a commit holds and nothing else: there, no name makes a file generated.
    """
    left_out: Counter[Why] = Counter()
    by_git = None if committed else listed(root)
    names = _walked(root, left_out, tracked=committed) if by_git is None else _wanted(by_git, left_out)
    texts: dict[str, str] = {}
    for n, name in enumerate(names):
        told("reading files", n, len(names))
        text = _code_of(root, name)
        if isinstance(text, Why):
            left_out[text] += 1
        else:
            texts[name] = text
    return Survey(texts, left_out, by_git is not None)


def _walked(root: Path, left_out: Counter[Why], *, tracked: bool = False) -> list[str]:
    """The files below `root` by name; hidden and generated ones, and folders of them, are only counted."""
    names: list[str] = []
    for place, folders, files in os.walk(root):
        entries = {name: _why_by_name(name, tracked=tracked) for name in (*folders, *files)}
        left_out.update(why for why in entries.values() if why)
        folders[:] = [name for name in folders if not entries[name]]
        names += [Path(place, name).relative_to(root).as_posix() for name in files if not entries[name]]
    return sorted(names)


def _wanted(by_git: Mapping[str, bool], left_out: Counter[Why]) -> list[str]:
    """What git names, without what is hidden; what it does not track may be generated."""
    reasons = {name: _why_by_name(*name.split("/"), tracked=tracked) for name, tracked in by_git.items()}
    left_out.update(why for why in reasons.values() if why)
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
        text = _text_of(root / name)
    except (OSError, UnicodeEncodeError):
        return Why.UNREADABLE
    too_big = suffix in MARKUP and len(text) > MAX_MARKUP_CHARS if isinstance(text, str) else False
    return Why.BIG if too_big else text


def _text_of(path: Path) -> str | Why:
    """Raises OSError where a file cannot be read."""
    if path.is_symlink():
        return Why.LINK
    if not path.is_file():
        return Why.UNREADABLE
    if path.stat().st_size > MAX_FILE_BYTES:
        return Why.BIG
    raw = path.read_bytes()
    try:
        return Why.BINARY if b"\0" in raw else raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return Why.BINARY

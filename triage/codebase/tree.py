"""A checkout cut and ready to be searched by words, kept for the next job on the same state of the same files.

Cutting and counting words takes seconds where a checkout is large. One file holds the outcome, named by all that it
rests on; like the vectors it may be lost or damaged at any time.
"""

import hashlib
import os
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

import numpy as np

from triage.aside import Told, untold
from triage.codebase import chunk, words
from triage.codebase.cache import private
from triage.codebase.chunk import Chunk, chunks_of
from triage.codebase.packed import packed, unpacked
from triage.codebase.words import WordIndex
from triage.private_files import open_private

KEPT: Final = 10
"""States of checkouts that are kept, those used last; one of 10,000 chunks takes some 20 MB."""
_DAMAGED: Final = (OSError, ValueError, KeyError, EOFError, RuntimeError, BadZipFile, zlib.error)


@dataclass(frozen=True)
class Tree:
    """The chunks of a checkout, by path and line, and their words."""

    chunks: tuple[Chunk, ...]
    words: WordIndex


def tree_of(texts: Mapping[str, str], folder: Path, told: Told = untold) -> Tree:
    """The texts by path, cut: as kept in `folder`, or now, and kept there."""
    place = folder / f"{_digest(texts)}.npz"
    try:
        kept = _read(place)
        os.utime(place)
    except _DAMAGED:
        kept = _cut(texts, told)
        with suppress(OSError):  # the cache of vectors, which is beside it, has said why
            _keep(kept, private(folder) / place.name)
    return kept


def _digest(texts: Mapping[str, str]) -> str:
    """Of the texts, and of the code that cuts them."""
    code = [Path(str(module.__file__)).read_bytes() for module in (chunk, words)]
    rests_on = [*code, version("bm25s").encode(), *(f"{path}\0{text}".encode() for path, text in texts.items())]
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in rests_on)).hexdigest()


def _cut(texts: Mapping[str, str], told: Told) -> Tree:
    chunks: list[Chunk] = []
    for n, (path, text) in enumerate(texts.items()):
        told("cutting files", n, len(texts))
        chunks += chunks_of(path, text)
    return Tree(tuple(chunks), WordIndex([chunk.text for chunk in chunks], told))


def _read(place: Path) -> Tree:
    """Raises one of `_DAMAGED` where the file is not there, or not whole: a zip knows the sums of its parts."""
    with np.load(place, allow_pickle=False) as kept:
        arrays = dict(kept)
    ends = arrays["starts"].tolist(), arrays["ends"].tolist()
    chunks = map(Chunk, unpacked(arrays["paths"]), *ends, unpacked(arrays["texts"]))
    return Tree(tuple(chunks), WordIndex.of(arrays))


def _keep(tree: Tree, place: Path) -> None:
    """Write the file whole or not at all, and remove those that were not used for longest."""
    arrays: dict[str, Any] = tree.words.arrays()  # or mypy takes one of them for the option of savez
    half = place.with_suffix(f".{os.getpid()}")
    try:
        with open_private(half, "wb") as file:
            np.savez(
                file,
                paths=packed(chunk.path for chunk in tree.chunks),
                texts=packed(chunk.text for chunk in tree.chunks),
                starts=np.array([chunk.start for chunk in tree.chunks]),
                ends=np.array([chunk.end for chunk in tree.chunks]),
                **arrays,
            )
        half.replace(place)
    finally:
        half.unlink(missing_ok=True)
    for old in sorted(place.parent.iterdir(), key=lambda path: path.stat().st_mtime)[:-KEPT]:
        old.unlink(missing_ok=True)

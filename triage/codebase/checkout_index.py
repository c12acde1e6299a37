"""Index of a checkout for search: its chunks and their embeddings, reusing what is indexed."""

import hashlib
import os
import zlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

import numpy as np

from evals.shared.git_command import GitError, git
from triage.codebase import chunk, symbols
from triage.codebase import search_ranking as words
from triage.codebase.chunk import Chunk, chunks_of
from triage.codebase.embed import (
    DIMENSIONS,
    Distances,
    MiniLM,
    SharedVectors,
    Vectors,
    cores,
    packed,
    private,
    unpacked,
)
from triage.codebase.index import CodebaseIndex
from triage.codebase.search_ranking import WordIndex
from triage.codebase.source_files import MAX_DEPTH, Source, read_sources, source_files, submodules
from triage.codebase.symbols import grammar_of
from triage.private_files import open_private
from triage.run_in_thread import Told, Watch, untold

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
    modules = (Path(str(module.__file__)) for module in (chunk, symbols, words))
    code = [path.read_bytes() for path in (*modules, symbols.TABLE)]
    parsers = {found.distribution: found.release for path in texts if (found := grammar_of(path))}
    releases = [release.encode() for _, release in sorted(parsers.items())]
    rests_on = [
        *code,
        version("bm25s").encode(),
        *releases,
        *(f"{path}\0{text}".encode() for path, text in texts.items()),
    ]
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


_VECTORS: Final = "vectors-1.sqlite"
"""The number is that of its tables: another version of this program begins another file."""


def index_of_sources(
    sources: Sequence[Source],
    cache: Path,
    complain: Callable[[str], None],
    told: Told = untold,
    watch: Watch | None = None,
) -> CodebaseIndex:
    """The index of all `sources`, with what is known of them in the folder `cache`; what it computes is kept there.

    `complain` hears why nothing can be kept, if so, now or later. `told` hears of the cutting, `watch` watches each
    search (see `CodebaseIndex`). Raises InputError where a source has nothing to read.
    """
    embedder = SharedMiniLM(SharedVectors(cache / _VECTORS, complain))
    texts, said = read_sources(sources, told)
    tree = tree_of(texts, cache / "trees", told)
    about = f"{said}; {len(tree.chunks):,} chunks"
    return CodebaseIndex(tree.chunks, frozenset(texts), embedder, words=tree.words, watch=watch, about=about)


def index_of_release(root: Path, cache: Path, measured: Distances) -> CodebaseIndex:
    """The same for a folder whose every file belongs to it, as recorded requests know it: what was `measured` before
    needs no model, and where nothing can be kept in `cache`, it is computed again."""
    embedder = SharedMiniLM(SharedVectors(cache / _VECTORS, lambda _: None))
    texts = dict(source_files(root))
    tree = tree_of(texts, cache / "trees")
    return CodebaseIndex(tree.chunks, frozenset(texts), embedder, words=tree.words, measured=measured)


class SharedMiniLM:
    """MiniLM on all cores, behind the vectors that all jobs share. One text per call and thread: the same bits."""

    def __init__(self, vectors: SharedVectors) -> None:
        self.computed = 0
        """Texts whose vectors were not known."""
        self._vectors = vectors
        self._model = MiniLM()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`."""
        known = {text: self._vectors.get(text) for text in texts}
        new = [text for text, vector in known.items() if vector is None]
        self.computed += len(new)
        for text, vector in zip(new, self._pool.map(self._model.compute, new), strict=True):
            self._vectors.put(text, vector)
            known[text] = vector
        return np.array([known[text] for text in texts], dtype=np.float16).reshape(-1, DIMENSIONS)

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(cores())


CHANGED: Final = "-changed"
"""Ends the revision of a checkout that holds more, or other, than what was committed."""
_TIMEOUT_S: Final = 20.0


def revision_of(root: Path) -> str:
    """The commit `root` stands at, `-changed` behind it where files differ from it, or where git cannot tell whether
    they do; empty outside of git."""
    try:
        commit = git(root, "rev-parse", "--verify", "HEAD", timeout_s=_TIMEOUT_S).decode().strip()
    except GitError:
        return ""
    try:
        return commit + (CHANGED if _is_changed(root) else "")
    except GitError:
        return commit + CHANGED


def _is_changed(root: Path, depth: int = 0) -> bool:
    """Whether files differ, also in a submodule: git itself looks into none, by whose settings it would do so."""
    if git(root, "status", "--porcelain", "--", ".", timeout_s=_TIMEOUT_S):
        return True
    return depth < MAX_DEPTH and any(_is_changed(root / name, depth + 1) for name in submodules(root))

"""The indexed code of the case at hand, and no other: an index takes megabytes, and most cases have their own."""

from functools import lru_cache
from pathlib import Path
from typing import Final

from evals.subject.trial import Repository, embedder_at
from triage.codebase.distances import Distances
from triage.codebase.embed import MiniLM

_kept: Final[dict[tuple[Path, Path, int], Repository]] = {}


def indexed(tree: Path, vectors: Path, trees: Path | None = None, distances: Path | None = None) -> Repository:
    """The code below `tree`, a folder named by its content: indexed for the trial before, or now in its place. A
    released package has the committed `distances` in the place of vectors; `trees` is as in `Repository.over`.

    What is committed is read once, and again when it is written.
    """
    known = distances or vectors
    key = tree, known, _written(known)
    if key not in _kept:
        for last in _kept.values():
            last.index.forget()
        _kept.clear()
        if distances is None:
            _kept[key] = Repository.over(tree, _embedder(*key[1:]), trees)
        else:
            _kept[key] = Repository.of_release(tree, _distances(*key[1:]))
    return _kept[key]


@lru_cache(1)
def _embedder(vectors: Path, _written: int) -> MiniLM:
    return embedder_at(vectors)


@lru_cache(1)
def _distances(path: Path, _written: int) -> Distances:
    return Distances(path)


def _written(path: Path) -> int:
    return path.stat().st_mtime_ns if path.exists() else 0

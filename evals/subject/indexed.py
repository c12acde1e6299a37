"""The indexed code of the case at hand, and no other: an index takes megabytes, and most cases have their own."""

from functools import lru_cache
from pathlib import Path
from typing import Final

from evals.subject.trial import Repository, embedder_at
from triage.codebase.embed import MiniLM

_kept: Final[dict[tuple[Path, Path, int], Repository]] = {}


def indexed(tree: Path, vectors: Path, trees: Path | None = None) -> Repository:
    """The code below `tree`, a folder named by its content: indexed for the trial before, or now in its place.

    `trees` is as in `Repository.over`. The committed vectors are read once, and again when they are written.
    """
    key = tree, vectors, _written(vectors)
    if key not in _kept:
        for last in _kept.values():
            last.index.forget()
        _kept.clear()
        _kept[key] = Repository.over(tree, _embedder(*key[1:]), trees)
    return _kept[key]


@lru_cache(1)
def _embedder(vectors: Path, _written: int) -> MiniLM:
    return embedder_at(vectors)


def _written(path: Path) -> int:
    return path.stat().st_mtime_ns if path.exists() else 0

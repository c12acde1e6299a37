"""The one door from a folder to something that can be searched, whatever its size, fast at the second time."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np

from triage.aside import Told, Watch, untold
from triage.codebase.cache import SharedVectors
from triage.codebase.distances import Distances
from triage.codebase.embed import DIMENSIONS, MiniLM, Vectors, cores
from triage.codebase.files import source_files, survey
from triage.codebase.index import CodebaseIndex
from triage.codebase.tree import tree_of

_VECTORS: Final = "vectors-1.sqlite"
"""The number is that of its tables: another version of this program begins another file."""


def index_of_checkout(
    root: Path, cache: Path, complain: Callable[[str], None], told: Told = untold, watch: Watch | None = None
) -> CodebaseIndex:
    """The index of the folder `root`, with what is known of it in the folder `cache`; what it computes is kept there.

    `complain` hears why nothing can be kept, if so, now or later. `told` hears of the cutting, `watch` watches each
    search (see `CodebaseIndex`).
    """
    embedder = SharedMiniLM(SharedVectors(cache / _VECTORS, complain))
    found = survey(root, told)
    tree = tree_of(found.texts, cache / "trees", told)
    about = f"{root}: {len(found.texts):,} files in {len(tree.chunks):,} chunks; left out: {found.omitted()}"
    return CodebaseIndex(tree.chunks, frozenset(found.texts), embedder, words=tree.words, watch=watch, about=about)


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

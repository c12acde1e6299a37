"""The index of one repository, searched by meaning and by words.

Up to `CANDIDATES` chunks, all of them are embedded and compared. A larger repository would keep its first search
waiting for minutes: there, each query is first asked by words, and only its `CANDIDATES` best chunks are embedded and
compared. Which ones they are depends on query and code alone, not on what happens to be embedded already.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np
from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict

from triage.codebase.chunk import Chunk, chunks_of
from triage.codebase.embed import Distances, Embedder, Vectors, cores
from triage.codebase.search_ranking import (
    FETCHED,
    Near,
    Ranking,
    WordIndex,
    collection,
    distances_of,
    drop,
    fused,
    nearest,
    nearest_of,
    ordered,
    worth_of,
)
from triage.codebase.source_files import source_files
from triage.run_in_thread import Told, Watch, aside, untold

if TYPE_CHECKING:
    from chromadb import Collection

DEFAULT_K: Final = 5
CANDIDATES: Final = 400
"""Chunks that are embedded for one query, at most; what that loses is measured in decision 0014."""
REMEMBERED: Final = 1_000
"""Rankings an index keeps."""
STEP: Final = 4 * cores()
"""Chunks embedded between two words about how far it got: a fraction of a second, for which Ctrl-C may have to wait."""


class CodebaseIndex:
    """What can be asked about a repository. Embedding waits for the first search, and so does ranking by words unless
    `words` are given. With `measured` distances no vector is needed for what was asked before. With a `watch`, whoever
    awaits a search shares the event loop meanwhile, and sees how far it got.
    """

    def __init__(
        self,
        chunks: Sequence[Chunk] | Callable[[], Sequence[Chunk]],
        paths: frozenset[str],
        embedder: Embedder,
        *,
        words: WordIndex | None = None,
        candidates: int = CANDIDATES,
        measured: Distances | None = None,
        watch: Watch | None = None,
        about: str = "",
    ) -> None:
        self._cut = chunks
        self.paths = paths
        """Every text file of the repository, relative, with forward slashes."""
        self.about = about
        """What is searched and what is left out, in one line."""
        self.watch = watch
        self.embedder = embedder
        """What its vectors come from."""
        self._candidates = candidates
        self._measured = measured
        self._rankings: dict[str, Ranking] = {}
        self._collection: Collection | None = None
        self._searching = Lock()
        if words is not None:
            self._words = words

    @classmethod
    def build(cls, root: Path | None, embedder: Embedder) -> Self:
        """The index of the tree at `root`, as recorded requests know it; an empty one for None."""
        files = dict(source_files(root)) if root is not None else {}
        return cls(lambda: [each for file in files.items() for each in chunks_of(*file)], frozenset(files), embedder)

    @cached_property
    def chunks(self) -> tuple[Chunk, ...]:
        """All of them. A built index cuts them when they are first asked for: a trial may end before."""
        return tuple(self._cut() if callable(self._cut) else self._cut)

    @cached_property
    def digest(self) -> str:
        """sha256 of all that retrieval can return."""
        content = "\0".join(f"{chunk.id}\0{chunk.text}" for chunk in self.chunks)
        return hashlib.sha256(content.encode()).hexdigest()

    @cached_property
    def symbols(self) -> Mapping[str, str]:
        """Chunk id -> the name of what it shows (`Chunk.symbol`)."""
        return {chunk.id: chunk.symbol for chunk in self.chunks}

    def retriever(
        self, k: int = DEFAULT_K, min_score: float = 0.0, without: frozenset[str] = frozenset()
    ) -> BaseRetriever:
        """A retriever of the `k` best chunks, as documents with `id`, `path`, `start` and `end`, best first; those
        whose ids are in `without` are passed over.

        With a `min_score` above 0 a chunk counts only if its cosine similarity to the query is that high, and is among
        the highest `FETCHED`: however many words it shares, it is not about the same thing.
        """
        if not self.chunks:
            return _Nothing()
        return HybridRetriever(index=self, k=k, min_score=min_score, without=without)

    def rest_of(self, place: str, shown: Sequence[str]) -> list[str]:
        """Ids of the parts of the function at `place` (`path::function`) that are not among the `shown`, in order; none
        where the function was not cut, or no part of it was shown. Its class may be left out."""
        path, _, name = place.removesuffix("()").partition("::")
        seen = [self.symbols.get(part, "").partition("::") for part in shown] if name else []
        named = {f"{path}::{found}" for file, _, found in seen if file == path and f".{found}".endswith(f".{name}")}
        return [part for part, symbol in self.symbols.items() if symbol in named and part not in shown]

    def ranking(self, query: str, told: Told = untold) -> Ranking:
        """The chunks in the order they answer `query`. Kept, since the same question comes back with every variant."""
        with self._searching:
            if query not in self._rankings:
                if len(self._rankings) == REMEMBERED:
                    del self._rankings[next(iter(self._rankings))]
                self._rankings[query] = self._ranked(query, told)
            return self._rankings[query]

    def forget(self) -> None:
        """Give back the memory Chroma took, for whoever walks through many repositories. A search takes it again. What
        another index of the same content searches in this process stays."""
        if self._collection is not None:
            drop(self._collection)
            self._collection = None
        self._rankings.clear()

    def _ranked(self, query: str, told: Told) -> Ranking:
        scored = zip(self._words.scores(query), self.chunks, strict=True)
        by_words = sorted((-score, chunk.id) for score, chunk in scored)
        candidates = [name for _, name in by_words[: self._candidates]]
        if self._measured is not None:
            near = self._near_as_measured(self._measured, query, candidates, told)
        elif len(self.chunks) > self._candidates:
            near = self._near_among(candidates, self.embedder.embed([query]), told)
        else:
            near = self._near_anywhere(self.embedder.embed([query]), told)
        best = fused(near, [(score, name) for score, name in by_words[:FETCHED] if score < 0], worth=self._worth)
        return Ranking(tuple(best), {name: distance for distance, name in near})

    def _near_among(self, names: Sequence[str], asked: Vectors, told: Told) -> Near:
        return nearest_of(names, self._embedded([self._by_id[name] for name in names], told), asked)

    def _near_as_measured(self, measured: Distances, query: str, names: Sequence[str], told: Told) -> Near:
        chunks = [self._by_id[name] for name in names]
        texts = [chunk.text for chunk in chunks]
        distances = measured.get(query, texts)
        if distances is None:
            distances = distances_of(self._embedded(chunks, told), self.embedder.embed([query]))
            measured.put(query, texts, distances)
        return ordered(names, distances)

    def _near_anywhere(self, asked: Vectors, told: Told) -> Near:
        if self._collection is None:
            ids = [chunk.id for chunk in self.chunks]
            self._collection = collection(self.digest, ids, lambda: self._embedded(self.chunks, told))
        return nearest(self._collection, asked, len(self.chunks))

    def _embedded(self, chunks: Sequence[Chunk], told: Told) -> Vectors:
        """The vectors of the chunks, shape (len(chunks), DIMENSIONS)."""
        parts = []
        for start in range(0, len(chunks), STEP):
            told("reading code", start, len(chunks))
            parts.append(self.embedder.embed([chunk.text for chunk in chunks[start : start + STEP]]))
        return np.concatenate(parts)

    def document(self, name: str) -> Document:
        """A new document with the chunk of that id; whoever gets it may change it."""
        chunk = self._by_id[name]
        where = {"path": chunk.path, "start": chunk.start, "end": chunk.end}
        return Document(id=chunk.id, page_content=chunk.text, metadata=where)

    @cached_property
    def _by_id(self) -> dict[str, Chunk]:
        return {chunk.id: chunk for chunk in self.chunks}

    @cached_property
    def _worth(self) -> dict[str, float]:
        return {name: worth_of(chunk.path) for name, chunk in self._by_id.items()}

    @cached_property
    def _words(self) -> WordIndex:
        return WordIndex([chunk.text for chunk in self.chunks])


class HybridRetriever(BaseRetriever):
    """A retriever whose ranking by meaning is fused with a ranking by words."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    index: CodebaseIndex
    k: int = DEFAULT_K
    min_score: float = 0.0
    without: frozenset[str] = frozenset()

    def _best(self, query: str, told: Told = untold) -> list[Document]:
        ranked = self.index.ranking(query, told).within(self.min_score)
        names = [name for name in ranked if name not in self.without]
        return [self.index.document(name) for name in names[: self.k]]

    # The signatures are the parent's; a search needs nothing but its query.
    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002
        **_kwargs: Any,  # noqa: ANN401
    ) -> list[Document]:
        return self._best(query)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # noqa: ARG002
        **_kwargs: Any,  # noqa: ANN401
    ) -> list[Document]:
        if self.index.watch is None:
            return self._best(query)  # a few milliseconds in a replay: a thread would cost more than it frees
        return await aside(lambda told: self._best(query, told), self.index.watch)


class _Nothing(BaseRetriever):
    """The retriever of an empty index."""

    def _get_relevant_documents(
        self,
        query: str,  # noqa: ARG002  # the parent's signature
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002  # the parent's signature
    ) -> list[Document]:
        return []

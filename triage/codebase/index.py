"""The index of one repository: vectors in Chroma and words in BM25, fused so that a result never depends on luck.

Chroma's order of equals, its threads and its approximations vary between processes. So it gets precomputed
vectors, one thread and a search width that makes it exact; more is fetched than needed, distances are rounded,
and equals are ordered by chunk id. It holds ids and vectors only: the texts are here anyway, and writing them into
its database as well takes twice as long as all the rest.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Self

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict

from triage.codebase.chunk import Chunk, chunks_of, source_files
from triage.codebase.embed import Embedder
from triage.codebase.words import WordIndex

if TYPE_CHECKING:
    from chromadb import Collection
    from chromadb.api import ClientAPI
    from chromadb.api.collection_configuration import CreateHNSWConfiguration

DEFAULT_K: Final = 5
FETCHED: Final = 100
"""Candidates taken from each of the two searches."""
RRF_K: Final = 60
"""Reciprocal rank fusion's constant (Cormack, Clarke and Buettcher, SIGIR 2009)."""
REMEMBERED: Final = 1_000
"""Rankings an index keeps."""
BATCH: Final = 1_000
"""Chunks handed to Chroma at once; it refuses more than some five thousand."""
_HNSW: Final["CreateHNSWConfiguration"] = {
    "space": "cosine",
    "ef_construction": 200,
    "ef_search": 200,
    "num_threads": 1,
}


class CodebaseIndex:
    """What can be asked about a repository. Cutting happens at once, embedding at the first search."""

    def __init__(self, chunks: Sequence[Chunk], paths: frozenset[str], embedder: Embedder) -> None:
        self.chunks = tuple(chunks)
        self.paths = paths
        """Every text file of the repository, relative, with forward slashes."""
        self._embedder = embedder
        self._rankings: dict[str, Ranking] = {}

    @classmethod
    def build(cls, root: Path | None, embedder: Embedder) -> Self:
        """The index of the tree at `root`; an empty one for None."""
        files = dict(source_files(root)) if root is not None else {}
        chunks = [chunk for path, text in files.items() for chunk in chunks_of(path, text)]
        return cls(chunks, frozenset(files), embedder)

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

    def ranking(self, query: str) -> "Ranking":
        """The chunks in the order they answer `query`. Kept, since the same question comes back with every variant."""
        if query not in self._rankings:
            if len(self._rankings) == REMEMBERED:
                del self._rankings[next(iter(self._rankings))]
            self._rankings[query] = self._ranked(query)
        return self._rankings[query]

    def forget(self) -> None:
        """Give back the memory Chroma took, for whoever walks through many repositories. A search takes it again. What
        another index of the same content searches in this process stays."""
        if "_collection" in self.__dict__:
            name = self._collection.name
            del self._collection
            _users[name] -= 1
            if not _users[name]:
                _client().delete_collection(name)
        self._rankings.clear()

    def _ranked(self, query: str) -> "Ranking":
        asked = self._embedder.embed([query]).astype("float32")
        near = self._collection.query(asked, n_results=min(FETCHED, len(self.chunks)), include=["distances"])
        distances = near["distances"] or [[]]
        by_meaning = sorted(
            (round(distance, 4), name) for distance, name in zip(distances[0], near["ids"][0], strict=True)
        )
        scored = zip(self._words.scores(query), self._documents, strict=True)
        by_words = sorted((-score, str(document.id)) for score, document in scored if score > 0)[:FETCHED]
        best = fused(by_meaning, by_words, worth=self._worth)
        return Ranking(tuple(best), {name: distance for distance, name in by_meaning})

    def document(self, name: str) -> Document:
        """A new document with the chunk of that id; whoever gets it may change it."""
        return self._by_id[name].model_copy(deep=True)

    @cached_property
    def _documents(self) -> list[Document]:
        return [_document(chunk) for chunk in self.chunks]

    @cached_property
    def _by_id(self) -> dict[str, Document]:
        return {str(document.id): document for document in self._documents}

    @cached_property
    def _worth(self) -> dict[str, float]:
        return {name: worth_of(document.metadata["path"]) for name, document in self._by_id.items()}

    @cached_property
    def _words(self) -> WordIndex:
        return WordIndex([chunk.text for chunk in self.chunks])

    @cached_property
    def _collection(self) -> "Collection":
        name = f"codebase-{self.digest[:40]}"
        found = _client().get_or_create_collection(name, configuration={"hnsw": _HNSW}, embedding_function=None)
        if not found.count():  # another index of the same content may have filled it in this process
            for start in range(0, len(self.chunks), BATCH):
                batch = self.chunks[start : start + BATCH]
                vectors = self._embedder.embed([chunk.text for chunk in batch]).astype("float32")
                found.add([chunk.id for chunk in batch], vectors)
        _users[name] += 1
        return found


_users: Final[Counter[str]] = Counter()
"""Collection -> how many indexes of this process search it."""


@cache
def _client() -> "ClientAPI":
    """Chroma in this process's memory."""
    import chromadb  # noqa: PLC0415  # 0.9 s that a run without a codebase search does not pay
    from chromadb.config import Settings  # noqa: PLC0415  # as above

    return chromadb.EphemeralClient(Settings(anonymized_telemetry=False))


@dataclass(frozen=True)
class Ranking:
    """Chunk ids, best first, and the cosine distance of those whose meaning is among the nearest `FETCHED`."""

    best: tuple[str, ...]
    distances: Mapping[str, float]

    def within(self, min_score: float) -> Sequence[str]:
        """The ids, without those less similar than a `min_score` above 0 asks for."""
        if min_score <= 0:
            return self.best
        return [name for name in self.best if name in self.distances and passes(self.distances[name], min_score)]


class HybridRetriever(BaseRetriever):
    """A retriever whose ranking by meaning is fused with a ranking by words."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    index: CodebaseIndex
    k: int = DEFAULT_K
    min_score: float = 0.0
    without: frozenset[str] = frozenset()

    def _best(self, query: str) -> list[Document]:
        ranked = self.index.ranking(query).within(self.min_score)
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
        return self._best(query)  # a few milliseconds: a thread would cost more than it frees


def passes(distance: float, min_score: float) -> bool:
    """Whether a rounded distance is a similarity of at least `min_score`; as decimals, for 1 - 0.8 is not quite 0.2."""
    return distance <= round(1 - min_score, 4)


def worth_of(path: str) -> float:
    """Prose and tests count half: they are worded like an issue, and would crowd out the code that is at fault."""
    *folders, name = path.split("/")
    is_test = "tests" in folders or name.startswith("test_")
    return 0.5 if is_test or name.endswith((".md", ".rst", ".txt")) else 1.0


def fused(*rankings: Sequence[tuple[float, str]], worth: Mapping[str, float] = MappingProxyType({})) -> list[str]:
    """Reciprocal rank fusion of rankings of (sort key, id): an id scores its worth (1 unless given) / (60 + rank)
    in each; equals by id.
    """
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, (_, name) in enumerate(ranking, 1):
            scores[name] = scores.get(name, 0.0) + worth.get(name, 1.0) / (RRF_K + rank)
    return sorted(scores, key=lambda name: (-scores[name], name))


def _document(chunk: Chunk) -> Document:
    where = {"path": chunk.path, "start": chunk.start, "end": chunk.end}
    return Document(id=chunk.id, page_content=chunk.text, metadata=where)


class _Nothing(BaseRetriever):
    """The retriever of an empty index."""

    def _get_relevant_documents(
        self,
        query: str,  # noqa: ARG002  # the parent's signature
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002  # the parent's signature
    ) -> list[Document]:
        return []

"""Rankings by meaning and by words, fused."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from triage.codebase.embed import Vectors, packed, unpacked
from triage.codebase.symbols import grammar_of
from triage.run_in_thread import Told, untold

if TYPE_CHECKING:
    from chromadb import Collection
    from chromadb.api import ClientAPI
    from chromadb.api.collection_configuration import CreateHNSWConfiguration


_TEST_FOLDERS: Final = frozenset({"test", "__tests__", "spec"})
_TEST_NAME: Final = re.compile(r"[._](test|spec)s?\.\w+$|[a-z0-9]Tests?\.\w+$")
"""Test files of other languages than Python: `cart.test.ts`, `cart_test.go`, `CartTest.java`, `cart_spec.rb`."""
RRF_K: Final = 60
"""Reciprocal rank fusion's constant (Cormack, Clarke and Buettcher, SIGIR 2009)."""


@dataclass(frozen=True)
class Ranking:
    """Chunk ids, best first, and the cosine distance of those whose meaning is among the nearest."""

    best: tuple[str, ...]
    distances: Mapping[str, float]

    def within(self, min_score: float) -> Sequence[str]:
        """The ids, without those less similar than a `min_score` above 0 asks for."""
        if min_score <= 0:
            return self.best
        return [name for name in self.best if name in self.distances and passes(self.distances[name], min_score)]


def passes(distance: float, min_score: float) -> bool:
    """Whether a rounded distance is a similarity of at least `min_score`; as decimals, for 1 - 0.8 is not quite 0.2."""
    return distance <= round(1 - min_score, 4)


def worth_of(path: str) -> float:
    """Prose and tests count half: they are worded like an issue, and would crowd out the code that is at fault."""
    *folders, name = path.split("/")
    is_test = "tests" in folders or name.startswith("test_")
    if grammar_of(path) is not None:
        is_test = is_test or bool(_TEST_FOLDERS.intersection(folders)) or _TEST_NAME.search(name) is not None
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


_WORD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+")
_REMEMBERED: Final = 1_000
"""Texts whose tokens are kept: most trees of one codebase differ in a file or two."""
_SCORES: Final = ("data", "indices", "indptr")
_PIECE: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def code_tokens(text: str) -> list[str]:
    """Identifiers in lower case, whole and split at underscores and capitals: `readFile_v2` gives
    readfile_v2, read, file, v, 2.
    """
    tokens: list[str] = []
    for word in _WORD.findall(text):
        pieces = [piece.lower() for piece in _PIECE.findall(word)]
        tokens += pieces if pieces == [word.lower()] else [word.lower(), *pieces]
    return tokens


@lru_cache(_REMEMBERED)
def _tokens_of(text: str) -> list[str]:
    return code_tokens(text)


class WordIndex:
    """BM25 (Lucene's variant, the library's default) over a fixed list of texts."""

    def __init__(self, texts: Sequence[str], told: Told = untold) -> None:
        # Heavy, and a run that never searches does not need it; ships no types.
        import bm25s  # type: ignore[import-untyped]  # noqa: PLC0415

        tokens: list[list[str]] = []
        for n, text in enumerate(texts):
            told("reading words", n, len(texts))
            tokens.append(_tokens_of(text))
        if not any(tokens):
            tokens = [[""]] * max(1, len(texts))  # the library cannot do without a single word
        self._index = bm25s.BM25()
        self._index.index(tokens, show_progress=False)

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """The index that `arrays` was taken from."""
        import bm25s  # noqa: PLC0415  # as above

        self = cls.__new__(cls)
        self._index = bm25s.BM25()
        self._index.scores = {name: arrays[name] for name in _SCORES} | {"num_docs": int(arrays["num_docs"])}
        self._index.vocab_dict = {word: number for number, word in enumerate(unpacked(arrays["vocabulary"]))}
        self._index.nonoccurrence_array = None
        return self

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All of it, for a file."""
        numbers = self._index.vocab_dict
        scores = {name: np.asarray(self._index.scores[name]) for name in (*_SCORES, "num_docs")}
        return {"vocabulary": packed(sorted(numbers, key=numbers.__getitem__)), **scores}

    def scores(self, query: str) -> list[float]:
        """One score per text, rounded to 4 decimals; 0 where no word is shared."""
        tokens = [token for token in code_tokens(query) if token in self._index.vocab_dict]
        if not tokens:
            return [0.0] * int(self._index.scores["num_docs"])
        return [round(float(score), 4) for score in self._index.get_scores(tokens)]


FETCHED: Final = 100
"""Candidates taken from each of the two searches, by meaning and by words."""
BATCH: Final = 1_000
"""Chunks handed to Chroma at once; it refuses more than some five thousand."""
_HNSW: Final["CreateHNSWConfiguration"] = {
    "space": "cosine",
    "ef_construction": 200,
    "ef_search": 200,
    "num_threads": 1,
}
Near = list[tuple[float, str]]
"""(cosine distance, chunk id), the nearest first, `FETCHED` at most."""


def collection(digest: str, ids: Sequence[str], vectors: Callable[[], Vectors]) -> "Collection":
    """Chroma's collection of the repository with that digest; filled with `vectors` where it is new."""
    name = f"codebase-{digest[:40]}"
    found = _client().get_or_create_collection(name, configuration={"hnsw": _HNSW}, embedding_function=None)
    rows = vectors().astype("float32")  # in any case: they are to be known to this index's own cache, and saved with it
    if not found.count():  # another index of the same content may have filled it in this process
        for start in range(0, len(ids), BATCH):
            found.add(list(ids[start : start + BATCH]), rows[start : start + BATCH])
    _users[name] += 1
    return found


def drop(found: "Collection") -> None:
    """Give back the memory Chroma took, unless another index of the same content searches it in this process."""
    _users[found.name] -= 1
    if not _users[found.name]:
        _client().delete_collection(found.name)


_users: Final[Counter[str]] = Counter()
"""Collection -> how many indexes of this process search it."""


def nearest(found: "Collection", query: Vectors, size: int) -> Near:
    """The nearest of all `size` chunks to a query, shape (1, DIMENSIONS)."""
    near = found.query(query.astype("float32"), n_results=min(FETCHED, size), include=["distances"])
    distances = near["distances"] or [[]]
    return _ordered(zip(distances[0], near["ids"][0], strict=True))


def nearest_of(ids: Sequence[str], vectors: Vectors, query: Vectors) -> Near:
    """The nearest of the candidates, whose vectors have the shape (len(ids), DIMENSIONS), to a query."""
    return ordered(ids, distances_of(vectors, query))


def distances_of(vectors: Vectors, query: Vectors) -> list[float]:
    """The rounded cosine distance of each row of `vectors` to a query, shape (1, DIMENSIONS)."""
    similar = _unit(vectors) @ _unit(query)[0]
    return [round(distance, 4) for distance in (1 - similar).tolist()]


def ordered(ids: Sequence[str], distances: Sequence[float]) -> Near:
    """The nearest of the chunks, by their distances."""
    return _ordered(zip(distances, ids, strict=True))[:FETCHED]


def _unit(vectors: Vectors) -> NDArray[np.float64]:
    """float16 has rounded them off length 1."""
    exact = vectors.astype(np.float64)
    unit: NDArray[np.float64] = exact / np.linalg.norm(exact, axis=1, keepdims=True)
    return unit


def _ordered(measured: Iterable[tuple[float, str]]) -> Near:
    return sorted((round(distance, 4), name) for distance, name in measured)


@cache
def _client() -> "ClientAPI":
    """Chroma in this process's memory."""
    import chromadb  # noqa: PLC0415  # 0.9 s that a run without a codebase search does not pay
    from chromadb.config import Settings  # noqa: PLC0415  # as above

    return chromadb.EphemeralClient(Settings(anonymized_telemetry=False))

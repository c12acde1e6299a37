"""Which chunks are nearest to a query in meaning: in all of a repository (Chroma), or among some candidates (exactly).

Chroma's order of equals, its threads and its approximations vary between processes. So it gets precomputed
vectors, one thread and a search width that makes it exact; more is fetched than needed, distances are rounded,
and equals are ordered by chunk id. It holds ids and vectors only: the texts are here anyway, and writing them into
its database as well takes twice as long as all the rest. Candidates are others for each query, and few: a product of
matrices is done before Chroma has taken them in.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from triage.codebase.embed import Vectors

if TYPE_CHECKING:
    from chromadb import Collection
    from chromadb.api import ClientAPI
    from chromadb.api.collection_configuration import CreateHNSWConfiguration

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
    """Chroma's collection of the repository with that digest; `vectors` are asked for if it is not filled yet."""
    name = f"codebase-{digest[:40]}"
    found = _client().get_or_create_collection(name, configuration={"hnsw": _HNSW}, embedding_function=None)
    if not found.count():  # another index of the same content may have filled it in this process
        rows = vectors().astype("float32")
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

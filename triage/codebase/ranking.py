"""What a search returns: rankings by meaning and by words, fused so that a result never depends on luck."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

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

"""A stratified random sample of recorded requests: seeded, proportional, and part of every larger one of its seed."""

import hashlib
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

from evals.drift.population import Recorded, Stratum

Name = TypeVar("Name", bound=Hashable)


def allocated(sizes: Mapping[Name, int], size: int) -> dict[Name, int]:
    """How many of each stratum: one of each, the largest first, then in proportion; all, where there are no more.

    Proportional by Sainte-Laguë's divisors: a larger sample takes no stratum anything away (Balinski & Young 1982).
    """
    taken = dict.fromkeys(sizes, 0)
    for _ in range(min(size, sum(sizes.values()))):
        open_ones = [name for name in sizes if taken[name] < sizes[name]]
        empty = [name for name in open_ones if not taken[name]]
        nxt = max(empty or open_ones, key=lambda name: sizes[name] / (2 * taken[name] + 1))
        taken[nxt] += 1
    return taken


def drawn(requests: Sequence[Recorded], size: int, seed: int) -> list[Recorded]:
    """The sample: of each stratum those with the lowest random numbers, which follow from seed and key alone (permanent
    random numbers: Ohlsson 1995), so that a request keeps its number whatever else is recorded."""
    by_stratum: dict[Stratum, list[Recorded]] = {}
    for request in requests:
        by_stratum.setdefault(request.stratum, []).append(request)
    shares = allocated({name: len(by_stratum[name]) for name in sorted(by_stratum)}, size)
    return [
        request
        for name, members in sorted(by_stratum.items())
        for request in sorted(members, key=lambda member: _number(member.key, seed))[: shares[name]]
    ]


def _number(key: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed} {key}".encode()).digest()

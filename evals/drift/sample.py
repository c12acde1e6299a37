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
    shares = dict.fromkeys(sizes, 0)
    for _ in range(min(size, sum(sizes.values()))):
        open_ones = [name for name in sizes if shares[name] < sizes[name]]
        empty = [name for name in open_ones if not shares[name]]
        shares[max(empty or open_ones, key=lambda name: sizes[name] / (2 * shares[name] + 1))] += 1
    return shares


def drawn(requests: Sequence[Recorded], size: int, seed: int) -> list[Recorded]:
    """The sample: of each stratum those with the lowest random numbers, which follow from seed and key alone (permanent
    random numbers: Ohlsson 1995), so that a request keeps its number whatever else is recorded."""
    return taken(in_order(requests, seed), size)


def in_order(requests: Sequence[Recorded], seed: int) -> dict[Stratum, list[Recorded]]:
    """The requests of each stratum in the order they would be drawn in."""
    by_stratum: dict[Stratum, list[Recorded]] = {}
    for request in requests:
        by_stratum.setdefault(request.stratum, []).append(request)
    return {name: sorted(by_stratum[name], key=lambda member: _number(member.key, seed)) for name in sorted(by_stratum)}


def taken(strata: Mapping[Stratum, Sequence[Recorded]], size: int) -> list[Recorded]:
    """The first ones of each stratum, `size` in all."""
    shares = allocated({name: len(members) for name, members in strata.items()}, size)
    return [request for name, members in strata.items() for request in members[: shares[name]]]


def _number(key: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed} {key}".encode()).digest()

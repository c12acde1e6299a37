"""Where the boxes of a DAG stand: in rows by longest path from a start, each row ordered so that few edges cross.

An edge over several rows bends through an empty place in each row between, so that no edge runs through a box. Source:
Sugiyama, Tagawa and Toda 1981, with medians of neighbours by Eades and Wormald 1994 replaced by their means.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

BOX: Final = (150, 46)
BEND: Final = 16
"""How wide the empty place is that an edge passes through."""
GAP: Final = (18, 34)
MARGIN: Final = 6
_SWEEPS: Final = 4

Edge = tuple[int, int]
Place = int | tuple[Edge, int]
"""A box, or the bend of an edge in a row."""


@dataclass(frozen=True)
class Box:
    """The upper left corner of a node's box, whose size is `BOX`."""

    node: int
    x: float
    y: float


@dataclass(frozen=True)
class Layout:
    """Boxes, edges as points from the foot of one box to the head of another, and the size of the whole."""

    boxes: tuple[Box, ...]
    ways: tuple[tuple[tuple[float, float], ...], ...]
    width: float
    height: float


def laid_out(nodes: Sequence[int], edges: Sequence[Edge]) -> Layout:
    """The layout of a DAG. Edges to or from what is no node are left out, and so is what closes a cycle."""
    known = set(nodes)
    drawn = [edge for edge in dict.fromkeys(edges) if known.issuperset(edge)]
    depths = _depths(nodes, drawn)
    drawn = [(start, end) for start, end in drawn if depths[start] < depths[end]]
    chains = {edge: _chain(edge, depths) for edge in drawn}
    rows = _rows(nodes, depths, chains)
    widths = [sum(map(_width, row)) + GAP[0] * (len(row) - 1) for row in rows]
    whole = max(widths, default=0)
    left: dict[Place, float] = {}
    for row, width in zip(rows, widths, strict=True):
        x = MARGIN + (whole - width) / 2
        for place in row:
            left[place] = x
            x += _width(place) + GAP[0]
    return Layout(
        tuple(Box(node, left[node], _top(depths[node])) for node in nodes),
        tuple(tuple(_points(chain, left, depths)) for chain in chains.values()),
        whole + 2 * MARGIN,
        _top(len(rows) - 1) + BOX[1] + MARGIN if rows else 2 * MARGIN,
    )


def _depths(nodes: Sequence[int], edges: Sequence[Edge]) -> dict[int, int]:
    """The longest path to each node, in edges; as many rounds as there are nodes settle every DAG."""
    depths = dict.fromkeys(nodes, 0)
    for _ in nodes:
        for start, end in edges:
            depths[end] = min(max(depths[end], depths[start] + 1), len(nodes) - 1)
    return depths


def _chain(edge: Edge, depths: Mapping[int, int]) -> list[Place]:
    start, end = edge
    bends: list[Place] = [(edge, depth) for depth in range(depths[start] + 1, depths[end])]
    return [start, *bends, end]


def _rows(nodes: Sequence[int], depths: Mapping[int, int], chains: Mapping[Edge, Sequence[Place]]) -> list[list[Place]]:
    """Every row in the order it is drawn: places stand near the mean of those they are tied to, up and down in turn."""
    rows: list[list[Place]] = [[] for _ in range(max(depths.values(), default=-1) + 1)]
    for node in nodes:
        rows[depths[node]].append(node)
    for edge, chain in chains.items():
        for depth, bend in enumerate(chain[1:-1], start=depths[edge[0]] + 1):
            rows[depth].append(bend)
    ties = [tie for chain in chains.values() for tie in pairwise(chain)]
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for above, row in pairwise(rows if down else rows[::-1]):
            _sort(row, above, ties if down else [(end, start) for start, end in ties])
    return [row for row in rows if row]


def _sort(row: list[Place], settled: Sequence[Place], ties: Sequence[tuple[Place, Place]]) -> None:
    where = {place: number for number, place in enumerate(settled)}
    means = {}
    for number, place in enumerate(row):
        tied = [where[other] for other, end in ties if end == place and other in where]
        means[place] = sum(tied) / len(tied) if tied else float(number)
    row.sort(key=lambda place: means[place])


def _width(place: Place) -> int:
    return BOX[0] if isinstance(place, int) else BEND


def _top(depth: int) -> float:
    return MARGIN + depth * (BOX[1] + GAP[1])


def _points(
    chain: Sequence[Place], left: Mapping[Place, float], depths: Mapping[int, int]
) -> list[tuple[float, float]]:
    """Foot of the first box, both ends of each bend, head of the last."""
    points = []
    for place in chain:
        x = left[place] + _width(place) / 2
        if isinstance(place, int):
            points.append((x, _top(depths[place]) + (BOX[1] if place == chain[0] else 0)))
        else:
            points += [(x, _top(place[1])), (x, _top(place[1]) + BOX[1])]
    return points

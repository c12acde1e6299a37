"""Confusion matrices of decisions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from evals.models.metrics import Confusion
from evals.models.route_spec import Choice
from evals.models.run import Run
from evals.pack import load_pack
from evals.report.numbers import percent

LEVELS: Final = 4
"""Shades of a cell, by the share of its row."""
AXES: Final[dict[str, tuple[str, str]]] = {
    "frozen states": ("best node ↓ chosen →", "decision points answered"),
    "trials": ("chosen ↓ where the guards let it go →", "recorded decisions, those of exact trials"),
}

Kind = Literal["right", "defensible", "wrong", "overruled"]


@dataclass(frozen=True)
class ConfusionSquare:
    """One cell; `level` is its shade, from 0 (none) to `LEVELS`. `label` says it in words."""

    count: str
    kind: str
    level: str
    label: str


@dataclass(frozen=True)
class ConfusionRow:
    """Decisions with one node in the rows, and how many they are."""

    node: str
    squares: tuple[ConfusionSquare, ...]
    n: str


@dataclass(frozen=True)
class ConfusionView:
    """One matrix; where there is nothing to count, `cannot` stands in its place."""

    variant: str
    title: str
    corner: str
    rests_on: str
    cannot: str
    columns: tuple[str, ...]
    rows: tuple[ConfusionRow, ...]
    diagonal: bool
    """Every decision is the one of its row: there is nothing to look at."""


def confusion_views(run: Run) -> tuple[ConfusionView, ...]:
    """The candidate's and the reference's first; none where the cases have no such decisions."""
    first = {run.candidate: 0, run.reference: 1}
    ordered = sorted((item for item in run.confusions if item.of), key=lambda item: first.get(item.variant, 2))
    order = _order_of_nodes(run)
    return tuple(_view_confusion(item, order) for item in ordered)


def _order_of_nodes(run: Run) -> list[str]:
    """The nodes as the first specification lists them, then what else a router chose."""
    spec = next((case.route_spec for case in run.cases if case.route_spec is not None), None)
    cells = [node for item in run.confusions for cell in item.cells for node in (cell.row, cell.column)]
    return list(dict.fromkeys([*(spec.node_caps if spec else load_pack().node_caps), *sorted(cells)]))


def _view_confusion(item: Confusion, order: Sequence[str]) -> ConfusionView:
    corner, counted = AXES[item.decisions]
    used = {node for cell in item.cells for node in (cell.row, cell.column)}
    nodes: tuple[Choice, ...] = tuple(node for node in order if node in used)
    return ConfusionView(
        variant=item.variant,
        title=f"{item.variant}, {'decision points' if item.decisions == 'frozen states' else item.decisions}",
        corner=corner,
        rests_on=f"{item.n} of {item.of} {counted}",
        cannot="" if item.n else f"cannot judge: none of {item.of} {counted}",
        columns=nodes,
        rows=tuple(_row(item, node, nodes) for node in nodes if any(cell.row == node for cell in item.cells)),
        diagonal=item.n > 0 and all(cell.row == cell.column for cell in item.cells),
    )


def _row(item: Confusion, node: Choice, nodes: Iterable[Choice]) -> ConfusionRow:
    mine = {cell.column: cell for cell in item.cells if cell.row == node}
    total = sum(cell.count for cell in mine.values())
    squares = []
    for column in nodes:
        cell = mine.get(column)
        if cell is None:
            squares.append(ConfusionSquare("", "", "0", ""))
            continue
        kind = _kind(item, same=column == node, credit=cell.credit)
        share = cell.count / total
        label = f"{node} → {column}: {cell.count} of {total} ({percent(share)}), {kind}"
        squares.append(ConfusionSquare(str(cell.count), kind, str(max(1, round(share * LEVELS))), label))
    return ConfusionRow(node, tuple(squares), str(total))


def _kind(item: Confusion, *, same: bool, credit: float) -> Kind:
    if same:
        return "right"
    if item.decisions == "trials":
        return "overruled"
    return "defensible" if credit > 0 else "wrong"

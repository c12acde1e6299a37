"""Flip matrices: results of each case under two variants."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final, Literal

from evals.models.metrics import Scored
from evals.models.run import Run
from evals.report.view.page_parts import ListLink, Lists

Fate = Literal["passed", "partly", "failed", "unjudged"]
FATES: Final[tuple[Fate, ...]] = ("passed", "partly", "failed", "unjudged")
_SAME: Final = 1e-9


@dataclass(frozen=True)
class FlipCell:
    """Cases of one cell. `kind` is a class: lost, gained, kept, moved (partly, by another share), or unjudged."""

    count: ListLink
    kind: str
    note: str


@dataclass(frozen=True)
class FlipMatrix:
    """One endpoint of one pair: a row per fate under the reference, a column per fate under the other variant."""

    endpoint: str
    caption: str
    columns: tuple[Fate, ...]
    rows: tuple[tuple[Fate, tuple[FlipCell, ...]], ...]


@dataclass(frozen=True)
class FlipPair:
    """The matrices of one variant against the reference, one per primary endpoint."""

    left: str
    right: str
    judged: bool
    matrices: tuple[FlipMatrix, ...]


def flip_pairs(run: Run, lists: Lists) -> tuple[FlipPair, ...]:
    """The candidate first, then the variants that are shown and not judged."""
    names = [info.variant.name for info in run.variants if info.variant.name != run.reference]
    if run.reference not in {info.variant.name for info in run.variants}:
        return ()
    primary = [info.name for info in run.scorers if info.primary]
    means = case_shares(run, primary)
    return tuple(
        FlipPair(
            name,
            run.reference,
            name == run.candidate,
            tuple(_matrix(run, name, endpoint, means, lists) for endpoint in primary),
        )
        for name in sorted(names, key=lambda name: name != run.candidate)
    )


def case_shares(run: Run, endpoints: Sequence[str]) -> dict[tuple[str, str], dict[str, float]]:
    """(variant, endpoint) -> case -> mean of its scored samples; a case without one is left out."""
    found: dict[tuple[str, str], dict[str, list[float]]] = {}
    for trial in run.trials:
        for endpoint in endpoints:
            outcome = trial.outcomes.get(endpoint)
            if isinstance(outcome, Scored):
                cases = found.setdefault((trial.trace.variant, endpoint), {})
                cases.setdefault(trial.trace.case_id, []).append(outcome.value)
    return {key: {case: sum(each) / len(each) for case, each in cases.items()} for key, cases in found.items()}


def _fate(share: float | None) -> Fate:
    if share is None:
        return "unjudged"
    return "passed" if share == 1 else "failed" if share == 0 else "partly"


def _matrix(
    run: Run, name: str, endpoint: str, means: Mapping[tuple[str, str], Mapping[str, float]], lists: Lists
) -> FlipMatrix:
    now, was = means.get((name, endpoint), {}), means.get((run.reference, endpoint), {})
    places: dict[tuple[Fate, Fate], list[str]] = {}
    for case in run.cases:
        places.setdefault((_fate(was.get(case.id)), _fate(now.get(case.id))), []).append(case.id)
    shown = tuple(fate for fate in FATES if fate != "partly" or any("partly" in place for place in places))
    pair = f"{endpoint}, {run.reference} against {name}"
    cells = {
        (old, new): _cell(old, new, places.get((old, new), []), was, now, f"{pair}: {old}, then {new}", lists)
        for old, new in product(shown, shown)
    }
    both = len(was.keys() & now.keys())
    return FlipMatrix(
        endpoint,
        f"{endpoint}: {both} of {len(run.cases)} cases judged under both",
        shown,
        tuple((old, tuple(cells[old, new] for new in shown)) for old in shown),
    )


def _cell(
    old: Fate,
    new: Fate,
    cases: Sequence[str],
    was: Mapping[str, float],
    now: Mapping[str, float],
    title: str,
    lists: Lists,
) -> FlipCell:
    count = lists.link(str(len(cases)), title, cases)
    if "unjudged" in (old, new):
        return FlipCell(count, "unjudged", "")
    if old == new == "partly":
        ways = Counter(_way(now[case] - was[case]) for case in cases)
        told = ", ".join(f"{ways[way]} {way}" for way in ("lower", "higher") if ways[way])
        return FlipCell(count, "moved" if told else "kept", told)
    lost = FATES.index(new) > FATES.index(old)
    return FlipCell(count, "kept" if old == new else "lost" if lost else "gained", "")


def _way(difference: float) -> str:
    return "same" if abs(difference) <= _SAME else "higher" if difference > 0 else "lower"

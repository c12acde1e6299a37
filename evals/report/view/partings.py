"""Where the variants' ways part, over all cases: the same difference at the same decision is one row."""

from collections.abc import Sequence
from dataclasses import dataclass

from evals.models.run import Comparison, Run
from evals.report.view.lists import ListLink, Lists

SHOWN = 4
"""Cases the verdict links to by name."""


@dataclass(frozen=True)
class PartingRow:
    """`cases` of one variant that leave the way of another, or of its baseline, in one way; `broke` and `mended` are
    those of them that fell or rose on an endpoint that rests on routes."""

    variant: str
    right: str
    number: str
    what: str
    cases: ListLink
    broke: ListLink
    mended: ListLink
    judged: bool


@dataclass(frozen=True)
class Lead:
    """Where to look first: a list of cases in words, and the first of them."""

    told: ListLink
    case_ids: tuple[str, ...]
    more: str


def parting_rows(run: Run, lists: Lists) -> tuple[PartingRow, ...]:
    """The candidate's first, then by how many cases they are about."""
    groups: dict[tuple[str, str, int, str], list[str]] = {}
    for item in run.divergences:
        groups.setdefault((item.left, item.right, item.decision, item.what), []).append(item.case_id)
    rows = [_row(run, *key, cases, lists) for key, cases in groups.items()]
    return tuple(
        sorted(rows, key=lambda row: (not row.judged, row.variant, row.right, -int(row.cases.text), int(row.number)))
    )


def _row(run: Run, left: str, right: str, decision: int, what: str, cases: Sequence[str], lists: Lists) -> PartingRow:
    where = f"{left} leaves the way of {right} at decision {decision + 1}: {what}"
    broke, mended = (sorted(set(cases) & flipped) for flipped in _flipped(run, left, right))
    return PartingRow(
        variant=left,
        right=right,
        number=str(decision + 1),
        what=what,
        cases=lists.link(str(len(cases)), where, cases),
        broke=lists.link(str(len(broke)), f"{where}; broke", broke),
        mended=lists.link(str(len(mended)), f"{where}; mended", mended),
        judged=left == run.candidate,
    )


def _flipped(run: Run, left: str, right: str) -> tuple[set[str], set[str]]:
    """Cases that broke, and that mended; a score of frozen states rests on no route."""
    routed = {info.name for info in run.scorers if not info.open_loop}
    mine = [item for item in run.comparisons if (item.left, item.right) == (left, right) and item.endpoint in routed]
    return {case for item in mine for case in item.broke}, {case for item in mine for case in item.mended}


def leads(run: Run, lists: Lists) -> tuple[Lead, ...]:
    """What the verdict links to: what broke of all that is judged, by endpoint; else where the candidate went another
    way."""
    known = {case.id for case in run.cases}
    judged = [item for item in run.comparisons if item.against == "baseline" or item.left == run.candidate]
    found = [
        _lead(_broke(item), item.broke, _parted(run, item.left, item.right), lists)
        for item in judged
        if item.broke and known.issuperset(item.broke)
    ]
    if found:
        return tuple(found)
    ways = dict.fromkeys(item.right for item in run.divergences if item.left == run.candidate)
    return tuple(_elsewhere(run, right, lists) for right in ways)


def _parted(run: Run, left: str, right: str) -> list[str]:
    return [item.case_id for item in run.divergences if (item.left, item.right) == (left, right)]


def _elsewhere(run: Run, right: str, lists: Lists) -> Lead:
    parted = _parted(run, run.candidate, right)
    told = f"{run.candidate} leaves the way of {right} in {len(parted)} of {len(run.cases)} cases"
    return _lead(told, parted, parted, lists)


def _broke(item: Comparison) -> str:
    clause = f": {item.divergence}" if item.divergence else ""
    return f"{item.left}: {item.endpoint} broke in {len(item.broke)} of {item.n} against {item.right}{clause}"


def _lead(told: str, cases: Sequence[str], parted: Sequence[str], lists: Lists) -> Lead:
    """The cases that can be explained come first."""
    first = sorted(cases, key=lambda case: case not in parted)
    more = f"and {len(first) - SHOWN} more" if len(first) > SHOWN else ""
    return Lead(lists.link(told, told, cases), tuple(first[:SHOWN]), more)

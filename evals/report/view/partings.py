"""Where the variants' ways part, over all cases: the same difference at the same decision is one row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evals.models.run import Comparison, Divergence, Run
from evals.report.view.lists import ListLink, Lists

SHOWN = 4
"""Cases the verdict links to by name."""


@dataclass(frozen=True)
class PartingRow:
    """`cases` of one variant that part from the reference in one way; `broke` and `mended` are those of them that fell
    or rose on an endpoint that rests on routes."""

    variant: str
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
    groups: dict[tuple[str, int, str], list[str]] = {}
    for item in run.divergences:
        groups.setdefault((item.left, item.decision, item.what), []).append(item.case_id)
    rows = [_row(run, left, decision, what, cases, lists) for (left, decision, what), cases in groups.items()]
    return tuple(sorted(rows, key=lambda row: (not row.judged, row.variant, -int(row.cases.text), int(row.number))))


def _row(run: Run, left: str, decision: int, what: str, cases: Sequence[str], lists: Lists) -> PartingRow:
    where = f"{left} parts from {run.reference} at decision {decision + 1}: {what}"
    broke, mended = (sorted(set(cases) & flipped) for flipped in _flipped(run, left))
    return PartingRow(
        variant=left,
        number=str(decision + 1),
        what=what,
        cases=lists.link(str(len(cases)), where, cases),
        broke=lists.link(str(len(broke)), f"{where}; broke", broke),
        mended=lists.link(str(len(mended)), f"{where}; mended", mended),
        judged=left == run.candidate,
    )


def _flipped(run: Run, left: str) -> tuple[set[str], set[str]]:
    """Cases that broke, and that mended, against the reference; a score of frozen states rests on no route."""
    routed = {info.name for info in run.scorers if not info.open_loop}
    mine = [item for item in _against_reference(run, left) if item.endpoint in routed]
    return {case for item in mine for case in item.broke}, {case for item in mine for case in item.mended}


def _against_reference(run: Run, left: str) -> list[Comparison]:
    return [item for item in run.comparisons if item.left == left and item.against == "reference"]


def leads(run: Run, lists: Lists) -> tuple[Lead, ...]:
    """What the verdict links to: what broke under the candidate, by endpoint; else where it went another way."""
    known = {case.id for case in run.cases}
    by_case = {item.case_id: item for item in run.divergences if item.left == run.candidate}
    found = [
        _lead(_broke(item), item.broke, by_case, lists)
        for item in run.comparisons
        if item.left == run.candidate and item.broke and known.issuperset(item.broke)
    ]
    if found or not by_case:
        return tuple(found)
    told = f"{run.candidate} parts from {run.reference} in {len(by_case)} of {len(run.cases)} cases"
    return (_lead(told, tuple(by_case), by_case, lists),)


def _broke(item: Comparison) -> str:
    clause = f": {item.divergence}" if item.divergence else ""
    return f"{item.endpoint} broke in {len(item.broke)} of {item.n} against {item.right}{clause}"


def _lead(told: str, cases: Sequence[str], parted: Mapping[str, Divergence], lists: Lists) -> Lead:
    """The cases that can be explained come first."""
    first = sorted(cases, key=lambda case: case not in parted)
    more = f"and {len(first) - SHOWN} more" if len(first) > SHOWN else ""
    return Lead(lists.link(told, told, cases), tuple(first[:SHOWN]), more)

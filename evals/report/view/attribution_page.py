"""The page of an attribution: what each hunk of a prompt did, beside its lines."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from evals.analysis.hunk_effects import Attribution, HunkEffect, HunkPart
from evals.report.numbers import points
from evals.report.view.page_parts import Table, without_empty
from evals.shared.words import counted


@dataclass(frozen=True)
class MarkedPart:
    """A stretch of the prompt with its lines, and in the margin what its hunk did; `name` is empty where none is."""

    name: str
    did: tuple[str, ...]
    lines: tuple[tuple[Literal["same", "del", "ins"], str], ...]


@dataclass(frozen=True)
class AttributionPage:
    """Everything the template puts in its places."""

    question: str
    sentence: str
    notes: tuple[str, ...]
    tables: tuple[Table, ...]
    parts: tuple[MarkedPart, ...]
    places: Table


def attribution_page(found: Attribution) -> AttributionPage:
    """The view of an attribution. Pure: the same result gives the same page."""
    every = (*found.effects, *found.routes)
    tables = [
        _table(f"Decisions that differ between {found.old} and {found.new}", (*found.effects, found.whole), found)
    ]
    if found.routes:
        tables.append(_table("Whole trials of the cases whose routes differ", found.routes, found))
    return AttributionPage(
        question=f"Which lines of the prompt did it? {found.new} against {found.old}, suite {found.suite}",
        sentence=_sentence(found),
        notes=tuple(_notes(found)),
        tables=tuple(tables),
        parts=tuple(_marked(part, found) for part in found.parts),
        places=Table(
            "Answers that changed", ("hunk", "place"), tuple((_name(each), at) for each in every for at in each.where)
        ),
    )


def _sentence(found: Attribution) -> str:
    asked = found.whole.asked
    if not asked:
        return f"{found.old} and {found.new} decide the same in all {found.decisions} decisions."
    if found.missing:
        return f"{asked} of {found.decisions} decisions differ; {counted(found.missing, 'answer')} not recorded yet."
    best = max(found.singles, key=lambda each: each.explained)
    return f"Hunk {best.hunks[0]} alone explains {best.explained} of the {asked} decisions that differ."


def _notes(found: Attribution) -> Iterator[str]:
    if found.singles and not any(each.missing for each in found.singles) and found.whole.asked:
        yield (
            f"{found.by_one} of {found.whole.asked} follow from exactly one hunk, {found.by_several} from each of "
            f"several, {found.together} only from hunks together."
        )
    if found.interaction is not None and found.whole.score is not None:
        yield (
            f"Score: the hunks one by one add up to {points(found.whole.score - found.interaction)} points, all "
            f"together change {points(found.whole.score)}; interaction {points(found.interaction)}."
        )
    if found.cost:
        price = "price unknown" if found.cost.usd is None else f"{found.cost.usd:.4f} USD"
        yield f"One answer: {found.cost.tokens_in:,.0f} tokens in, {found.cost.tokens_out:,.0f} out, {price}."


def _table(caption: str, effects: Sequence[HunkEffect], found: Attribution) -> Table:
    """One row per hunk version; the score is a mean over all decisions (or trials) of the suite, in points."""
    head = ("version", "asked", "missing", "changed", "explained", "mended", "broke", "score", "95 %")
    rows = []
    for each in effects:
        counts = (each.asked, each.missing, each.changed, each.explained, each.mended, each.broke)
        between = "" if each.low is None else f"{points(each.low)} to {points(each.high)}"
        rows.append((_version(each, found), *map(str, counts), points(each.score), between))
    return without_empty(Table(caption, head, tuple(rows)), rows=False)


def _version(effect: HunkEffect, found: Attribution) -> str:
    if effect is found.whole:
        return f"{found.new} (all hunks)"
    return (found.old if effect.way == "+" else found.new) + _name(effect)


def _name(effect: HunkEffect) -> str:
    return "".join(f"{effect.way}{hunk}" for hunk in effect.hunks)


def _marked(part: HunkPart, found: Attribution) -> MarkedPart:
    if not part.hunk:
        return MarkedPart("", (), tuple(("same", line) for line in part.old.splitlines()))
    mine = [each for each in (*found.effects, *found.routes) if each.hunks == (part.hunk,)]
    gone, added = part.old.splitlines(), part.new.splitlines()
    return MarkedPart(
        f"Hunk {part.hunk}",
        tuple(_did(each, "trials" if each in found.routes else "decisions") for each in mine),
        (*(("del", line) for line in gone), *(("ins", line) for line in added)),
    )


def _did(effect: HunkEffect, what: str) -> str:
    """What a hunk did, for the margin."""
    if not effect.asked:
        return f"{what}: not recorded yet"
    how = "put in" if effect.way == "+" else "taken out"
    score = "" if effect.score is None else f"; score {points(effect.score)}"
    missing = f"; {effect.missing} not recorded" if effect.missing else ""
    return (
        f"{how}: changed {effect.changed} of {effect.asked} {what}, explains {effect.explained}, mended "
        f"{effect.mended}, broke {effect.broke}{score}{missing}"
    )

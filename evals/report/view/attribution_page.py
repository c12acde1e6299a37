"""The page of an attribution: what each hunk of a prompt did, beside its lines."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evals.analysis.hunk_effects import Attribution, HunkEffect
from evals.prompt_hunks import Part
from evals.report.numbers import points
from evals.report.view.page_parts import Table, without_empty
from evals.shared.display_text import counted


@dataclass(frozen=True)
class MarkedPart:
    """A stretch of the prompt: lines that both versions have, or those that went and came, and what its hunk did."""

    name: str
    did: tuple[str, ...]
    same: tuple[str, ...]
    gone: tuple[str, ...]
    added: tuple[str, ...]


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
    kinds = (
        (f"Decisions that differ between {found.old} and {found.new}", found.effects),
        ("Whole trials of the cases whose routes differ", found.routes),
    )
    places = [(_version(each, found), place) for each in (*found.effects, *found.routes) for place in each.where]
    return AttributionPage(
        question=f"Which lines changed the decisions? {found.new} against {found.old}, suite {found.suite}",
        sentence=_sentence(found),
        notes=tuple(_notes(found)),
        tables=tuple(_table(caption, effects, found) for caption, effects in kinds if effects),
        parts=tuple(_marked(part, found) for part in found.parts),
        places=Table("Answers that changed", ("version", "where"), tuple(places)),
    )


def _sentence(found: Attribution) -> str:
    asked = found.whole.asked
    if not asked:
        return f"{found.old} and {found.new} decide the same in all {found.decisions} decisions."
    if found.missing:
        return f"{asked} of {found.decisions} decisions differ; {counted(found.missing, 'answer')} not recorded yet."
    best = max(found.alone, key=lambda each: each.explained)
    which = f"{best.explained} of the {asked} decisions that differ"
    return f"Hunk {best.hunks[0]} alone gives {found.new}'s choice in {which}."


def _notes(found: Attribution) -> Iterator[str]:
    scores = [each.score for each in found.alone if each.score is not None]
    if found.alone and not any(each.missing for each in found.alone):
        yield (
            f"{found.new}'s choice follows from one hunk alone in {counted(found.by_one, 'decision')}, from each of "
            f"several in {found.by_several}, from no single hunk in {found.together}."
        )
    if found.whole.score is None:
        yield "No decision point is labelled, so no change is better or worse: grade it in `accept`."
    elif scores and len(scores) == len(found.alone):
        interaction = found.whole.score - sum(scores)
        yield (
            f"Score, in points: single hunks add up to {_score(sum(scores))}, all hunks together to "
            f"{_score(found.whole.score)}; interaction {_score(interaction)}."
        )
    if found.tokens_in is not None:
        price = "price unknown" if found.usd is None else f"{found.usd:.4f} USD"
        yield f"One answer: {found.tokens_in:,.0f} tokens in, {found.tokens_out:,.0f} out, {price}."


def _table(caption: str, effects: Sequence[HunkEffect], found: Attribution) -> Table:
    """One row per hunk version, then all hunks together where it is about decisions."""
    head = ("version", "asked", "missing", "changed", "matches", "better", "worse", "score", "95 %")
    rows = []
    for each in (*effects, *([] if effects is found.routes else [found.whole])):
        counts = (each.asked, each.missing, each.changed, each.explained, each.mended, each.broke)
        between = "" if each.low is None else f"{points(each.low)} to {points(each.high)}"
        rows.append((_version(each, found), *map(str, counts), points(each.score), between))
    return without_empty(Table(caption, head, tuple(rows)), rows=False)


def _score(difference: float | None) -> str:
    """A change of the score in a sentence, in points."""
    gain = "gain" if difference and difference > 0 else "loss"
    return points(difference) if difference is None or "<" not in points(difference) else f"a {gain} under 1"


def _version(effect: HunkEffect, found: Attribution) -> str:
    if effect is found.whole:
        return f"{found.new} (all hunks)"
    return (found.old if effect.way == "+" else found.new) + "".join(f"{effect.way}{one}" for one in effect.hunks)


def _marked(part: Part, found: Attribution) -> MarkedPart:
    old, new = tuple(part.old.strip("\n").splitlines()), tuple(part.new.strip("\n").splitlines())
    if not part.hunk:
        return MarkedPart("", (), old, (), ())
    kinds = ((found.effects, "decisions"), (found.routes, "trials"))
    did = [_did(each, what, found) for effects, what in kinds for each in effects if each.hunks == (part.hunk,)]
    return MarkedPart(f"Hunk {part.hunk}", tuple(did), (), old, new)


def _did(effect: HunkEffect, what: str, found: Attribution) -> str:
    """What a hunk did, for the margin."""
    how, other = ("added", found.new) if effect.way == "+" else ("removed", found.old)
    missing = f"; {effect.missing} not recorded" if effect.missing else ""
    if not effect.asked:
        return f"{how}{missing}"
    is_graded = effect.score is not None or effect.missing
    graded = f"; {effect.mended} better, {effect.broke} worse; score {_score(effect.score)}" if is_graded else ""
    return (
        f"{how}: changed {effect.changed} of {effect.asked} {what}, {effect.explained} as in {other}{graded}{missing}"
    )

"""What a supervisor knew at a decision, field by field, and which fields differ between two trials."""

from dataclasses import dataclass
from typing import NamedTuple

from evals.models.trace import Finding, Trace, Visit
from evals.report.numbers import percent
from evals.report.view.texts import Texts
from evals.report.view.trial import visit_groups

ABSENT = "none"


class Field(NamedTuple):
    """One field of both states; `was` and `now` are numbers of texts."""

    name: str
    was: str
    now: str


@dataclass(frozen=True)
class StateDiff:
    """Fields that differ, and those that do not."""

    differ: tuple[Field, ...]
    alike: tuple[Field, ...]


def state_diff(was: Trace, now: Trace, decision: int, texts: Texts) -> StateDiff:
    """Both states before the decision with that index (from 0)."""
    old, new = state_fields(was, decision), state_fields(now, decision)
    fields = [
        (name, old.get(name, ABSENT), new.get(name, ABSENT)) for name in dict.fromkeys((*old, *new))
    ]  # in the order of the first, what only the second has behind it

    def some(*, alike: bool) -> tuple[Field, ...]:
        return tuple(
            Field(name, texts.add(before), texts.add(after))
            for name, before, after in fields
            if (before == after) == alike
        )

    return StateDiff(some(alike=False), some(alike=True))


def state_fields(trace: Trace, decision: int) -> dict[str, str]:
    """The recorded state before that decision: the way so far, what it brought, what was asked and answered."""
    before = trace.decisions[:decision]
    led = sum(one.routed != "end" for one in before)
    visits = [visit for group in visit_groups(trace)[:led] for visit in group]
    asked = sum(visit.node == "human_input" for visit in visits)
    fields = {
        "visits so far": " → ".join(visit.node for visit in visits) or ABSENT,
        "confidence stated last": percent(before[-1].confidence) if before else ABSENT,
    }
    for number, (visit, found) in enumerate(_found(visits), start=1):
        fields[f"finding {number} ({visit.node})"] = _told(found)
    for number, visit in enumerate(visits, start=1):
        if visit.error:
            fields[f"visit {number} ({visit.node}) failed"] = visit.error
    for number, exchange in enumerate(trace.exchanges[:asked], start=1):
        fields[f"question {number}"] = f"{exchange.question}\n{exchange.answer}"
    return fields


def _found(visits: list[Visit]) -> list[tuple[Visit, Finding]]:
    return [(visit, found) for visit in visits for found in visit.findings]


def _told(found: Finding) -> str:
    parts = (found.summary, f"confidence {percent(found.confidence)}", ", ".join(found.relevant_files), found.details)
    return "\n".join(part for part in parts if part)

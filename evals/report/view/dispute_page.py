"""The page of label disputes."""

from collections.abc import Sequence
from dataclasses import dataclass

from evals.analysis.label_disputes import (
    Choosing,
    DecidingRule,
    Disputed,
    DisputedAnswer,
    DisputedPoint,
    Disputes,
    RuleInfo,
)
from evals.report.numbers import NOTHING
from evals.report.view.trial_view import letters_of
from evals.routes.route_check import RouteRule


@dataclass(frozen=True)
class Suspect:
    """One row: a case (or a rule, then `case` is empty), what it is, the evidence in lines by column, and cases."""

    case: str
    name: str
    about: str
    cells: tuple[tuple[str, ...], ...]
    cases: tuple[str, ...] = ()


@dataclass(frozen=True)
class SuspectList:
    """One of the four: what it counts in words, its headings, and its rows, the strongest suspicion first."""

    title: str
    head: tuple[str, ...]
    rows: tuple[Suspect, ...]


def suspect_lists(found: Disputes) -> tuple[SuspectList, ...]:
    """All four, empty ones too: that there is no suspect is an answer."""
    refused = sum(point.grade == 0 for point in found.points)
    return (
        SuspectList(
            f"Suspect labels: {_of(len(found.labels), found)} got right by all, with a route that violates one "
            "constraint under all",
            ("case", "constraint that all violate", "routes and confidence", "what the label says"),
            tuple(map(_label, found.labels)),
        ),
        SuspectList(
            f"Routes too lax: {_of(len(found.lax), found)} with a wrong outcome by a route that passes",
            ("case", "wrong", "routes and confidence", "what the label says"),
            tuple(map(_lax, found.lax)),
        ),
        SuspectList(
            f"Constraints that alone decide a verdict: {len(found.rules)}, over {found.read} trials",
            ("constraint", "decides alone", "violated", "cases it decides"),
            tuple(map(_rule, found.rules)),
        ),
        SuspectList(
            f"Decision points in which all agree against the label: {len(found.points)}, of which the label does not "
            f"accept {refused}",
            ("case", "decision point", "all chose", "what the label says"),
            tuple(map(_point, found.points)),
        ),
    )


def _of(count: int, found: Disputes) -> str:
    return f"{count} of {found.cases} cases"


def _label(item: Disputed) -> Suspect:
    rules = tuple(
        f"{rule.id} ({_force(rule)}: {rule.asks}); alone in {rule.alone} of {len(item.answers)}" for rule in item.rules
    )
    return Suspect(item.case, item.case, _about(item), (rules, _ways(item.answers), (item.label,)))


def _lax(item: Disputed) -> Suspect:
    wrong = tuple(f"{_name(answer)}: {' and '.join(answer.wrong)}, says: {answer.said}" for answer in item.answers)
    return Suspect(item.case, item.case, _about(item), (wrong, _ways(item.answers), (item.label,)))


def _rule(item: DecidingRule) -> Suspect:
    rule = item.rule
    counts = f"{rule.alone} of {item.trials} trials", f"{item.broken} of {item.trials} trials"
    told = f"{_force(rule)}{f': {rule.asks}' if rule.asks else ''}"
    return Suspect("", rule.id, told, tuple((count,) for count in counts), item.cases)


def _point(item: DisputedPoint) -> Suspect:
    accepted = ", ".join(f"{node} {grade:g}" for node, grade in item.accept.items())
    chosen = f"{item.chosen}, graded {item.grade:g}"
    said = (chosen, *(f"{_name(each)}: {_sure(each.confidence)}" for each in item.answers))
    return Suspect(item.case, item.case, _about(item), ((item.point,), said, (f"accepted: {accepted}", item.why)))


def _about(item: Disputed | DisputedPoint) -> str:
    """A case of the gate is marked: whoever tunes on it has no gate any more."""
    return f"{'gate, not to be tuned on' if item.split == 'gate' else item.split} · {item.slice}"


def _ways(answers: Sequence[DisputedAnswer]) -> tuple[str, ...]:
    letters = letters_of(dict.fromkeys(node for answer in answers for node in answer.route))
    ways = (" ".join(letters[node] for node in answer.route) or "no step" for answer in answers)
    return tuple(f"{_name(one)}: {way}, {_sure(one.confidence)}" for one, way in zip(answers, ways, strict=True))


def _name(answer: DisputedAnswer | Choosing) -> str:
    return f"{answer.who} repeat {answer.sample + 1}" if answer.sample else answer.who


def _sure(confidence: float | None) -> str:
    return NOTHING if confidence is None else f"{confidence:g}"


def _force(rule: RuleInfo) -> str:
    return RouteRule(rule.id, rule.asks, rule.hard, rule.weight).force

"""Disagreements between labels and answers, with the evidence for both sides."""

from evals.models.base import Closed
from evals.models.case import Split
from evals.models.route_spec import Choice, RouteNode


class RuleInfo(Closed):
    """A rule of a route; `weight` is None for a limit on its length. `alone` counts the answers it alone fails."""

    id: str
    asks: str
    hard: bool
    weight: float | None
    alone: int


class DisputedAnswer(Closed):
    """One exact trial: who answered, the way it went, and the confidence at the decision that ended it.
    `wrong` names what its outcome gets wrong, `said` is what it says instead."""

    who: str
    sample: int
    route: tuple[RouteNode, ...]
    confidence: float | None
    passed: bool
    breaks: tuple[str, ...]
    decides: tuple[str, ...]
    wrong: tuple[str, ...]
    said: str


class Disputed(Closed):
    """A case in dispute, with its label and its answers. `rules` are those that every answer breaks; none where it is
    the route that may be too lax."""

    case: str
    split: Split
    slice: str
    label: str
    rules: tuple[RuleInfo, ...]
    answers: tuple[DisputedAnswer, ...]


class DecidingRule(Closed):
    """A rule that alone decides `rule.alone` of `trials` verdicts, and is broken in `broken`; with the cases it
    decides."""

    rule: RuleInfo
    broken: int
    trials: int
    cases: tuple[str, ...]


class Choosing(Closed):
    """One answer to a frozen state."""

    who: str
    sample: int
    confidence: float | None
    reasoning: str


class DisputedPoint(Closed):
    """A frozen state in which all chose the same node, and the label would have another. `grade` is what it gives for
    theirs, 0 where it does not accept it."""

    case: str
    split: Split
    slice: str
    point: str
    chosen: Choice
    grade: float
    accept: dict[Choice, float]
    why: str
    answers: tuple[Choosing, ...]


class Disputes(Closed):
    """Ranked, the strongest suspicion first: labels that every right answer offends, routes that pass wrong answers,
    rules that decide alone, frozen states in which all agree against the label. Held-out cases are left out of all.

    `cases` were looked at, in `trials` exact trials by `who`; `read` of those say why their route passes or fails.
    """

    who: tuple[str, ...]
    cases: int
    trials: int
    read: int
    labels: tuple[Disputed, ...]
    lax: tuple[Disputed, ...]
    rules: tuple[DecidingRule, ...]
    points: tuple[DisputedPoint, ...]

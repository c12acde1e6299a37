"""What needs no model at all: the scores every variant has to beat before its own mean anything.

A route baseline is a router without a model, chosen with the labels in hand, so that it is the strongest of its kind.
Whether a critic is due depends on the supervisor's confidence, which such a router does not have; so each case counts
twice, once with an unsure supervisor (0.7) and once with a sure one (0.9). Only routes of up to six visits are tried.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, get_args

from evals.dataset.passing import BANDS, Passing, all_passing
from evals.models.case import Case
from evals.models.route import Choice
from evals.models.run import DatasetBaseline
from evals.routes.selftest import Route
from evals.stats.macro import macro_mean

MAX_SHARE_OF_CASES: Final = 2 / 3
"""Above this too few cases are left whose route tells a router that reads the issue from one that does not."""


@dataclass(frozen=True)
class Rule:
    """A kind of router: which routes it may take, in which bands of confidence, and whether it tells them apart."""

    name: str
    definition: str
    may_take: Callable[[Route], bool]
    bands: tuple[str, ...] = ("unsure", "sure")
    sees_confidence: bool = True


ROUTE_RULES: Final[tuple[Rule, ...]] = (
    Rule("constant route", "The best single route, taken for every issue.", lambda _: True, sees_confidence=False),
    Rule("constant route, unsure", "The same if the supervisor never were sure.", lambda _: True, bands=("unsure",)),
    Rule("two branches", "The best pair of routes: one for an unsure supervisor, one for a sure one.", lambda _: True),
    Rule("always ask", "The best such pair of routes that ask the user.", lambda route: "human_input" in route),
    Rule("never ask", "The best such pair of routes that never ask.", lambda route: "human_input" not in route),
)


def route_baselines(cases: Iterable[Case], cache: Path) -> list[DatasetBaseline]:
    """`route.pass` of every rule, the constant route first, and of an oracle that knows each case's labels (1 unless a
    case is impossible).

    `cache` keeps the routes each specification lets through, since finding them takes seconds. Nothing for no cases.
    """
    passing = all_passing([case.route_spec for case in cases], cache)
    if not passing:
        return []
    possible = sum(bool(routes[band]) for routes in passing for band in BANDS)
    definition = "For every issue a route that passes."
    oracle = _baseline("route.pass", "oracle", definition, possible, len(passing) * len(BANDS))
    return [*(ruled(rule, passing, [1.0] * len(passing)) for rule in ROUTE_RULES), oracle]


def decision_baseline(cases: Iterable[Case]) -> list[DatasetBaseline]:
    """`decision.score` of always choosing one node: mean grade by gold node, averaged over gold nodes."""
    asked = [case.points for case in cases if case.points]
    points = [point for each in asked for point in each]
    if not points:
        return []
    nodes = [point.gold for point in points]

    def score(node: Choice) -> float:
        return macro_mean([point.accept.get(node, 0.0) for point in points], nodes) or 0.0

    best = max(get_args(Choice), key=score)
    name, definition = "constant choice", "The best single node, chosen in every frozen state."
    return [_baseline("decision.score", name, definition, score(best) * len(asked), len(asked), best)]


def ruled(rule: Rule, passing: Sequence[Passing], weights: Sequence[float]) -> DatasetBaseline:
    """The best a router of this kind can do over cases of these weights, which add up to their number."""
    counts = [_counted(passing, weights, band) for band in rule.bands]
    if not rule.sees_confidence:
        counts = [{route: sum(each.get(route, 0.0) for each in counts) for route in set().union(*counts)}]
    chosen = [_best(rule, counted) for counted in counts]
    detail = " / ".join(" → ".join(route) for route, _ in chosen if route)
    passed = sum(count for _, count in chosen)
    return _baseline("route.pass", rule.name, rule.definition, passed, len(passing) * len(rule.bands), detail)


def _counted(passing: Sequence[Passing], weights: Sequence[float], band: str) -> dict[Route, float]:
    counts: dict[Route, float] = {}
    for routes, weight in zip(passing, weights, strict=True):
        for route in routes[band]:
            counts[route] = counts.get(route, 0.0) + weight
    return counts


def _best(rule: Rule, counts: Mapping[Route, float]) -> tuple[Route, float]:
    """The permitted route that passes most often; of equals the shortest, then the first by name."""
    allowed = [(route, count) for route, count in counts.items() if rule.may_take(route)]
    return min(allowed, key=lambda pair: (-round(pair[1], 9), len(pair[0]), pair[0]), default=((), 0.0))


def _baseline(endpoint: str, name: str, definition: str, earned: float, n: int, detail: str = "") -> DatasetBaseline:
    return DatasetBaseline(endpoint=endpoint, name=name, definition=definition, share=earned / n, n=n, detail=detail)

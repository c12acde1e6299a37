"""Kinds of way: what a case takes, by its shortest passing route, and what one route for all of them is worth.

Most bugs are in the code, and a dataset that mirrors that is passed by one route more often than not. What shows that
routing matters is that there are other kinds of way, and that no one route suits many of them. So here each kind counts
alike, however many cases it has.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final, cast

from evals.dataset.baselines import ROUTE_RULES, ruled
from evals.dataset.passing import Passing, all_passing
from evals.models.case import Case
from evals.models.route import RouteNode
from evals.models.run import DatasetBaseline

MAX_SHARE_OF_KINDS: Final = 0.5
"""No route may suit half of the kinds of way there are."""
TOOLS: Final[tuple[RouteNode, ...]] = ("codebase_search", "web_search", "human_input")
Kind = tuple[RouteNode, ...]


def kind_of(passing: Passing) -> Kind:
    """What the shortest passing route looks at: code, web, user, several of them, or nothing at all."""
    routes = frozenset().union(*passing.values())
    shortest = min(routes, key=lambda route: (len(route), route), default=())
    return cast("Kind", tuple(tool for tool in TOOLS if tool in shortest))


def kind_baselines(cases: Iterable[Case], cache: Path) -> list[DatasetBaseline]:
    """The constant route and the best pair of routes, every kind of way counted alike. Nothing for no cases."""
    passing = all_passing([case.route_spec for case in cases], cache)
    kinds = [kind_of(routes) for routes in passing]
    size = Counter(kinds)
    weights = [len(kinds) / (len(size) * size[kind]) for kind in kinds]
    rules = [rule for rule in ROUTE_RULES if rule.name in {"constant route", "two branches"}]
    named = [replace(rule, name=f"{rule.name}, by kind of way", definition=_alike(rule.definition)) for rule in rules]
    return [ruled(rule, passing, weights) for rule in named] if passing else []


def _alike(definition: str) -> str:
    return f"{definition} Each kind of way (what the shortest passing route looks at) counts alike."

"""Floors: scores reached without any model."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Final, cast

from evals.content_cache import Kept, digest_of
from evals.models.case import Case, Choice, RouteNode
from evals.models.run import DatasetBaseline
from evals.safe_yaml import read_text
from evals.statistics.intervals import macro_mean
from evals.triage.dataset.dataset_layout import code_digest, libraries_digest
from evals.triage.dataset.route_strictness import BANDS, Passing, Route, all_passing
from evals.triage.nodes import CHOICES

MAX_SHARE_OF_CASES: Final = 2 / 3
"""Above this too few cases are left whose route tells a router that reads the issue from one that does not."""


@dataclass(frozen=True)
class RouterRule:
    """A kind of router: which routes it may take, in which bands of confidence, and whether it tells them apart."""

    name: str
    definition: str
    may_take: Callable[[Route], bool]
    bands: tuple[str, ...] = ("unsure", "sure")
    sees_confidence: bool = True


ROUTE_RULES: Final[tuple[RouterRule, ...]] = (
    RouterRule(
        "constant route", "The best single route, taken for every issue.", lambda _: True, sees_confidence=False
    ),
    RouterRule(
        "constant route, unsure", "The same if the supervisor never were sure.", lambda _: True, bands=("unsure",)
    ),
    RouterRule(
        "two branches", "The best pair of routes: one for an unsure supervisor, one for a sure one.", lambda _: True
    ),
    RouterRule("always ask", "The best such pair of routes that ask the user.", lambda route: "human_input" in route),
    RouterRule("never ask", "The best such pair of routes that never ask.", lambda route: "human_input" not in route),
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

    best = max(CHOICES, key=score)
    name, definition = "constant choice", "The best single node, chosen in every frozen state."
    return [_baseline("decision.score", name, definition, score(best) * len(asked), len(asked), best)]


def ruled(rule: RouterRule, passing: Sequence[Passing], weights: Sequence[float]) -> DatasetBaseline:
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


def _best(rule: RouterRule, counts: Mapping[Route, float]) -> tuple[Route, float]:
    """The permitted route that passes most often; of equals the shortest, then the first by name."""
    allowed = [(route, count) for route, count in counts.items() if rule.may_take(route)]
    return min(allowed, key=lambda pair: (-round(pair[1], 9), len(pair[0]), pair[0]), default=((), 0.0))


def _baseline(endpoint: str, name: str, definition: str, earned: float, n: int, detail: str = "") -> DatasetBaseline:
    return DatasetBaseline(endpoint=endpoint, name=name, definition=definition, share=earned / n, n=n, detail=detail)


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


ENDPOINT: Final = "root_cause.hit"
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")  # snake_case and CamelCase come apart


def root_cause_baselines(cases: Iterable[Case], tree_of: Callable[[Case], Path], cache: Path) -> list[DatasetBaseline]:
    """`root_cause.hit` of naming BM25's first source file, and of never naming any.

    BM25 always names a file where there is one, so it loses cases without gold, and silence wins just those. Cases
    whose source does not state the gold are left out. `tree_of` gives the code a case is about, in a folder named by
    its content; its tests are left out of the ranking. `cache` keeps what was found for an issue in such a folder.
    """
    cases = [case for case in cases if "gold" not in case.labels.unlabelled]
    if not cases:
        return []
    code = code_digest("triage/dataset/floor_scores.py") + libraries_digest(cache)
    found = sum(_first(case, tree_of(case), cache, code) in case.labels.gold.files for case in cases)
    silent = sum(not case.labels.gold.files for case in cases)
    return [
        _baseline_word_search(
            "BM25 first file", "The source file that shares most words with the issue.", found, len(cases)
        ),
        _baseline_word_search("name nothing", "No file is ever named.", silent, len(cases)),
    ]


def _baseline_word_search(name: str, definition: str, hits: int, n: int) -> DatasetBaseline:
    return DatasetBaseline(endpoint=ENDPOINT, name=name, definition=definition, share=hits / n, n=n)


def _first(case: Case, tree: Path, cache: Path, code: bytes) -> str | None:
    """The best file, the first by name among equals; None where there is no code. `code` is the digest of this file."""
    rests_on = (word.encode("utf-8", "surrogatepass") for word in (tree.name, case.title, case.body))
    kept, name = Kept(cache / "words"), digest_of(code, *rests_on)
    known = kept.get(name)
    if known is not None:
        return known.decode() or None
    sources = _sources(tree, read_text if case.labels.base_commit is None else _read_foreign)
    found = _rank(case, sources)[0] if sources else None
    kept.put(name, (found or "").encode())
    return found


def _rank(case: Case, sources: Mapping[str, str]) -> list[str]:
    """The files by falling score, equal ones by name."""
    import bm25s  # type: ignore[import-untyped]  # noqa: PLC0415 - carries no types; heavy, and mostly not needed

    names = sorted(sources)
    index = bm25s.BM25()
    index.index([_words(f"{name}\n{sources[name]}") for name in names], show_progress=False)
    scores = index.get_scores(_words(f"{case.title}\n{case.body}"))
    return [name for _, name in sorted(zip(-scores.round(6), names, strict=True))]


def _sources(tree: Path, read: Callable[[Path], str]) -> dict[str, str]:
    files = (path for path in tree.rglob("*.py") if "tests" not in path.relative_to(tree).parts)
    return {path.relative_to(tree).as_posix(): read(path) for path in files}


def _read_foreign(path: Path) -> str:
    """Somebody's source may be in any encoding: the words of its code are ASCII in most of them."""
    return path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n")


@lru_cache(512)
def _words(text: str) -> list[str]:
    """Remembered, and so not to be changed: many cases are about the same code, but for a file or two."""
    return " ".join(_WORD.findall(text)).lower().split()

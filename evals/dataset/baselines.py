"""What needs no model at all: the scores every variant has to beat before its own mean anything.

A constant route is a router without eyes, the two-branch rule one with a single question, always-ask one without
judgement; BM25 names the source file that shares most words with the issue.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import bm25s  # type: ignore[import-untyped]  # the package carries no types

from evals.models.case import Case
from evals.models.route import RouteNode
from evals.routes.check import check
from evals.routes.selftest import state_for

Route = tuple[RouteNode, ...]
SEARCH_CODE: Final[Route] = ("investigator", "codebase_search", "critic", "writer")
SEARCH_WEB: Final[Route] = ("investigator", "web_search", "critic", "writer")
ASK: Final[Route] = ("investigator", "codebase_search", "human_input", "critic", "writer")
THIRD_PARTY: Final = re.compile(r"site-packages|dist-packages|\bpip install\b", re.IGNORECASE)
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")  # snake_case and CamelCase come apart


class Hits(NamedTuple):
    """In how many of `cases` a baseline succeeded."""

    name: str
    hits: int
    cases: int

    @property
    def share(self) -> float | None:
        """0 to 1; None for no cases."""
        return self.hits / self.cases if self.cases else None


def skill(score: float, baseline: float) -> float | None:
    """(s - b) / (1 - b): 0 is no better than the baseline, 1 perfect; None where the baseline leaves nothing to win."""
    return (score - baseline) / (1 - baseline) if baseline < 1 else None


def best_constant_route(cases: Iterable[Case]) -> tuple[Route, Hits]:
    """The exemplar of any case that passes most cases (the first by name among equals), taken for all of them.

    Chosen with the labels in hand, so it is the strongest router that ignores the issue.
    """
    cases = list(cases)
    alternatives = (alternative for case in cases for alternative in case.route_spec.alternatives)
    candidates = sorted({SEARCH_CODE} | {exemplar for each in alternatives for exemplar in each.exemplars})
    best = max(candidates, key=lambda route: _passed(cases, route))
    return best, Hits("constant route", _passed(cases, best), len(cases))


def always_ask(cases: Iterable[Case]) -> Hits:
    """Look into the code, then ask the user, whatever the issue."""
    cases = list(cases)
    return Hits("always ask", _passed(cases, ASK), len(cases))


def two_branches(cases: Iterable[Case]) -> Hits:
    """Search the web if the issue shows an installed package's path or a `pip install`, else the code."""
    cases = list(cases)
    passed = sum(_passed([case], SEARCH_WEB if THIRD_PARTY.search(case.body) else SEARCH_CODE) for case in cases)
    return Hits("two-branch rule", passed, len(cases))


def bm25_first_file(cases: Iterable[Case], tree_of: Callable[[Case], Path]) -> Hits:
    """`root_cause.hit` of BM25: is its first source file gold? It always names one, so cases without gold are lost.

    `tree_of` gives the code a case is about; tests are left out of the ranking.
    """
    cases = list(cases)
    hits = sum(
        _rank(case, _sources(tree_of(case)))[:1] in ([name] for name in case.labels.gold.files) for case in cases
    )
    return Hits("BM25 first file", hits, len(cases))


def _passed(cases: Sequence[Case], route: Route) -> int:
    return sum(check(case.route_spec, route, state_for(route)).passed for case in cases)


def _rank(case: Case, sources: Mapping[str, str]) -> list[str]:
    """The files by falling score, equal ones by name."""
    names = sorted(sources)
    index = bm25s.BM25()
    index.index([_words(f"{name}\n{sources[name]}") for name in names], show_progress=False)
    scores = index.get_scores(_words(f"{case.title}\n{case.body}"))
    return [name for _, name in sorted(zip(-scores.round(6), names, strict=True))]


def _sources(tree: Path) -> dict[str, str]:
    files = (path for path in tree.rglob("*.py") if "tests" not in path.relative_to(tree).parts)
    return {path.relative_to(tree).as_posix(): path.read_text(encoding="utf-8") for path in files}


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]

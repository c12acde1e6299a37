"""Scores of what a report ranks, files and functions: which of those it names are to blame, and how early they come.

Labelled alternatives are as good as gold. Which files and functions a report names, and in which order, says `naming`;
a function is its outermost name together with its file. The formulas are those of `evals.stats.ranking`.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from evals.models.case import Case
from evals.models.trace import Trace
from evals.scorers.blame import file_explanations, files_to_blame, function_explanations, functions_to_blame
from evals.scorers.naming import ranked_files, ranked_functions
from evals.scorers.scorer import Scorer, ScoringFunction
from evals.stats.ranking import all_at, average_precision, harmonic_mean, hit_at, precision, recall, reciprocal_rank


class Ranked(NamedTuple):
    """What a report names, best first; all that is to blame; the sets either of which explains the whole fault."""

    named: tuple[str, ...]
    right: frozenset[str]
    ways: tuple[frozenset[str], ...]


def _hit(rank: int) -> Callable[[Ranked], float]:
    return lambda found: float(hit_at(found.named, found.right, rank))


def _all(rank: int) -> Callable[[Ranked], float]:
    return lambda found: float(any(all_at(found.named, way, rank) for way in found.ways))


def _recall(found: Ranked) -> float:
    return max(recall(found.named, way) for way in found.ways)


_HIT = "1 if any of the first {rank} {{one}}s the report names is to blame; skipped where no {{one}} is."
_ALL = (
    "1 if all {{one}}s to blame (or all of the labelled alternative) are among the first {rank} that the report names; "
    "skipped where none is to blame."
)
_FORMULAS: Final[dict[str, tuple[str, Callable[[Ranked], float]]]] = {
    "hit_at_1": ("1 if the first {one} the report names is to blame; skipped where no {one} is to blame.", _hit(1)),
    "hit_at_3": (_HIT.format(rank="three"), _hit(3)),
    "hit_at_5": (_HIT.format(rank="five"), _hit(5)),
    "all_at_1": (
        (
            "1 if the one {one} to blame (or the one labelled alternative) is the first that the report names, 0 where "
            "two are needed; skipped where none is to blame."
        ),
        _all(1),
    ),
    "all_at_3": (_ALL.format(rank="three"), _all(3)),
    "all_at_5": (_ALL.format(rank="five"), _all(5)),
    "mrr": (
        "1 / rank of the first named {one} that is to blame, 0 if none is named; skipped where no {one} is to blame.",
        lambda found: reciprocal_rank(found.named, found.right),
    ),
    "ap": (
        (
            "Average precision: sum of the precision at each gold {one} named, divided by the number of gold {one}s; "
            "skipped where no {one} is to blame."
        ),
        lambda found: max(average_precision(found.named, way) for way in found.ways),
    ),
    "precision": (
        "Share of the named {one}s that are to blame, 0 if none is named; skipped where no {one} is to blame.",
        lambda found: precision(found.named, found.right),
    ),
    "recall": (
        (
            "Share of the {one}s to blame (or of the labelled alternative, if higher) that are named; skipped where "
            "none is."
        ),
        _recall,
    ),
    "f1": (
        "Harmonic mean of precision and recall, 0 if both are; skipped where no {one} is to blame.",
        lambda found: harmonic_mean(precision(found.named, found.right), _recall(found)),
    ),
}


def _of_files(case: Case, trace: Trace) -> Ranked:
    return Ranked(tuple(ranked_files(trace)), files_to_blame(case), file_explanations(case))


def _of_functions(case: Case, trace: Trace) -> Ranked:
    return Ranked(tuple(ranked_functions(trace)), functions_to_blame(case), function_explanations(case))


def _applied(value: Callable[[Ranked], float], read: Callable[[Case, Trace], Ranked]) -> ScoringFunction:
    return lambda case, trace: value(read(case, trace))


def _scorers(one: str, read: Callable[[Case, Trace], Ranked], names: Mapping[str, str]) -> Iterator[Scorer]:
    """Every formula for one kind; `names` are those that do not follow the rule."""
    for formula, (definition, value) in _FORMULAS.items():
        yield Scorer(
            name=f"root_cause.{names.get(formula, f'{one}_{formula}')}",
            unit="fraction",
            better="higher",
            definition=definition.format(one=one),
            function=_applied(value, read),
        )


FILES: Final = tuple(
    _scorers("file", _of_files, {formula: f"set_{formula}" for formula in ("precision", "recall", "f1")})
)
FUNCTIONS: Final = tuple(_scorers("function", _of_functions, {"hit_at_1": "function_hit"}))

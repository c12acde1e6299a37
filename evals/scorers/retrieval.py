"""Scores of what the code search was shown, before any model judged it."""

from evals.models.case import Case
from evals.models.trace import Trace
from evals.scorers.blame import file_explanations, function_explanations
from evals.scorers.scorer import NotApplicable, scorer
from evals.stats.ranking import recall


@scorer("retrieval.gold_shown", unit="fraction", better="higher")
def gold_shown(case: Case, trace: Trace) -> float:
    """Share of the functions to blame (of the files, where no function is) that the first code search put before its
    model; skipped where none is to blame, and where the code was not searched."""
    ways = function_explanations(case) if case.labels.gold.functions else file_explanations(case)
    shown = next((visit.read for visit in trace.visits if visit.node == "codebase_search" and visit.read), None)
    if shown is None:
        raise NotApplicable("no code search was shown anything")
    named = tuple(_outermost(symbol) if case.labels.gold.functions else _path(symbol) for symbol in shown)
    return max(recall(named, way) for way in ways)


def _outermost(symbol: str) -> str:
    """`path::Class.function` as the labels have it: `path::Class`."""
    path, _, name = symbol.partition("::")
    return f"{path}::{name.partition('.')[0]}"


def _path(symbol: str) -> str:
    return symbol.partition("::")[0]

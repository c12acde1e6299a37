"""Scores of the root cause: whether the report blames the files and functions that are to blame, and only those.

Labelled alternatives are as good as gold. Which files a report names, and in which order, says `naming`.
"""

from collections.abc import Sequence

from evals.models.case import Case
from evals.models.trace import Trace
from evals.scorers.blame import blamed_rightly, explanations, files_to_blame, functions_to_blame
from evals.scorers.naming import ranked_files, ranked_functions
from evals.scorers.scorer import NotApplicable, scorer


@scorer("root_cause.hit", unit="fraction", better="higher", primary=True)
def root_cause_hit(case: Case, trace: Trace) -> float:
    """1 if the first file the report names is to blame (gold or labelled alternative), or if it names none where no
    file is to blame; 0 without a report. Never skipped."""
    return blamed_rightly(case, trace)


@scorer("root_cause.file_hit_at_3", unit="fraction", better="higher")
def file_hit_at_3(case: Case, trace: Trace) -> float:
    """1 if any of the first three files the report names is to blame; skipped where no file is."""
    return float(not files_to_blame(case).isdisjoint(ranked_files(trace)[:3]))


@scorer("root_cause.file_all_at_3", unit="fraction", better="higher")
def file_all_at_3(case: Case, trace: Trace) -> float:
    """1 if all files to blame (or all of the labelled alternative) are among the first three that the report names;
    skipped where none is to blame."""
    return float(_recall(case, ranked_files(trace)[:3]) == 1)


@scorer("root_cause.file_mrr", unit="fraction", better="higher")
def file_mrr(case: Case, trace: Trace) -> float:
    """1 / rank of the first named file that is to blame, 0 if none is named; skipped where no file is to blame."""
    blamed = files_to_blame(case)
    ranks = [rank for rank, path in enumerate(ranked_files(trace), 1) if path in blamed]
    return 1 / ranks[0] if ranks else 0.0


@scorer("root_cause.file_ap", unit="fraction", better="higher")
def file_ap(case: Case, trace: Trace) -> float:
    """Average precision: sum of the precision at each gold file named, divided by the number of gold files;
    skipped where no file is to blame."""
    named = ranked_files(trace)
    return max(_average_precision(named, way) for way in explanations(case))


@scorer("root_cause.set_precision", unit="fraction", better="higher")
def set_precision(case: Case, trace: Trace) -> float:
    """Share of the named files that are to blame, 0 if none is named; skipped where no file is to blame."""
    return _precision(case, ranked_files(trace))


@scorer("root_cause.set_recall", unit="fraction", better="higher")
def set_recall(case: Case, trace: Trace) -> float:
    """Share of the files to blame (or of the labelled alternative, if higher) that are named; skipped where none is."""
    return _recall(case, ranked_files(trace))


@scorer("root_cause.set_f1", unit="fraction", better="higher")
def set_f1(case: Case, trace: Trace) -> float:
    """Harmonic mean of set precision and set recall, 0 if both are; skipped where no file is to blame."""
    named = ranked_files(trace)
    precision, recall = _precision(case, named), _recall(case, named)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


@scorer("root_cause.function_hit", unit="fraction", better="higher")
def function_hit(case: Case, trace: Trace) -> float:
    """1 if the first function the report names (outermost, with its file) is to blame; skipped where no function is."""
    return float(not functions_to_blame(case).isdisjoint(ranked_functions(trace)[:1]))


@scorer("root_cause.function_hit_at_3", unit="fraction", better="higher")
def function_hit_at_3(case: Case, trace: Trace) -> float:
    """1 if any of the first three functions the report names is to blame; skipped where no function is."""
    return float(not functions_to_blame(case).isdisjoint(ranked_functions(trace)[:3]))


@scorer("root_cause.grounding", unit="fraction", better="higher")
def grounding(case: Case, trace: Trace) -> float:  # noqa: ARG001  every scorer takes the case
    """Share of the named files that exist in the repository; skipped if none is named or the files are not known."""
    named = ranked_files(trace)
    if not named or not trace.repository_files:
        raise NotApplicable("the report names no file" if not named else "the repository's files are not known")
    return sum(path in trace.repository_files for path in named) / len(named)


@scorer("root_cause.category", unit="fraction", better="higher")
def category(case: Case, trace: Trace) -> float:
    """1 if the report's category is the labelled one; 0 without a report."""
    return float(trace.report is not None and trace.report.category == case.labels.category)


def _precision(case: Case, named: Sequence[str]) -> float:
    blamed = files_to_blame(case)
    return sum(path in blamed for path in named) / len(named) if named else 0.0


def _recall(case: Case, named: Sequence[str]) -> float:
    return max(len(way.intersection(named)) / len(way) for way in explanations(case))


def _average_precision(named: Sequence[str], way: frozenset[str]) -> float:
    hits = [rank for rank, path in enumerate(named, 1) if path in way]
    return sum(found / rank for found, rank in enumerate(hits, 1)) / len(way)

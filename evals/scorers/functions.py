"""Scores of the ranking of functions: as for files, by the outermost name together with its file."""

from evals.models.case import Case
from evals.models.trace import Trace
from evals.scorers.blame import function_explanations, functions_to_blame
from evals.scorers.naming import ranked_functions
from evals.scorers.scorer import scorer
from evals.stats.ranking import all_at, average_precision, harmonic_mean, hit_at, precision, recall, reciprocal_rank


@scorer("root_cause.function_hit", unit="fraction", better="higher")
def function_hit(case: Case, trace: Trace) -> float:
    """1 if the first function the report names (outermost, with its file) is to blame; skipped where no function is."""
    return float(hit_at(ranked_functions(trace), functions_to_blame(case), 1))


@scorer("root_cause.function_hit_at_3", unit="fraction", better="higher")
def function_hit_at_3(case: Case, trace: Trace) -> float:
    """1 if any of the first three functions the report names is to blame; skipped where no function is."""
    return float(hit_at(ranked_functions(trace), functions_to_blame(case), 3))


@scorer("root_cause.function_hit_at_5", unit="fraction", better="higher")
def function_hit_at_5(case: Case, trace: Trace) -> float:
    """1 if any of the first five functions the report names is to blame; skipped where no function is."""
    return float(hit_at(ranked_functions(trace), functions_to_blame(case), 5))


@scorer("root_cause.function_all_at_1", unit="fraction", better="higher")
def function_all_at_1(case: Case, trace: Trace) -> float:
    """1 if the one function to blame (or the one labelled alternative) is the first that the report names, 0 where two
    are needed; skipped where none is to blame."""
    return float(any(all_at(ranked_functions(trace), way, 1) for way in function_explanations(case)))


@scorer("root_cause.function_all_at_3", unit="fraction", better="higher")
def function_all_at_3(case: Case, trace: Trace) -> float:
    """1 if all functions to blame (or all of the labelled alternative) are among the first three that the report names;
    skipped where none is to blame."""
    return float(any(all_at(ranked_functions(trace), way, 3) for way in function_explanations(case)))


@scorer("root_cause.function_all_at_5", unit="fraction", better="higher")
def function_all_at_5(case: Case, trace: Trace) -> float:
    """1 if all functions to blame (or all of the labelled alternative) are among the first five that the report names;
    skipped where none is to blame."""
    return float(any(all_at(ranked_functions(trace), way, 5) for way in function_explanations(case)))


@scorer("root_cause.function_mrr", unit="fraction", better="higher")
def function_mrr(case: Case, trace: Trace) -> float:
    """1 / rank of the first named function that is to blame, 0 if none is named; skipped where no function
    is to blame."""
    return reciprocal_rank(ranked_functions(trace), functions_to_blame(case))


@scorer("root_cause.function_ap", unit="fraction", better="higher")
def function_ap(case: Case, trace: Trace) -> float:
    """Average precision: sum of the precision at each gold function named, divided by the number of gold functions;
    skipped where no function is to blame."""
    named = ranked_functions(trace)
    return max(average_precision(named, way) for way in function_explanations(case))


@scorer("root_cause.function_precision", unit="fraction", better="higher")
def function_precision(case: Case, trace: Trace) -> float:
    """Share of the named functions that are to blame, 0 if none is named; skipped where no function is to blame."""
    return precision(ranked_functions(trace), functions_to_blame(case))


@scorer("root_cause.function_recall", unit="fraction", better="higher")
def function_recall(case: Case, trace: Trace) -> float:
    """Share of the functions to blame (or of the labelled alternative, if higher) that are named; skipped where none
    is."""
    return _recall(case, trace)


@scorer("root_cause.function_f1", unit="fraction", better="higher")
def function_f1(case: Case, trace: Trace) -> float:
    """Harmonic mean of function precision and function recall, 0 if both are; skipped where no function is to blame."""
    return harmonic_mean(precision(ranked_functions(trace), functions_to_blame(case)), _recall(case, trace))


def _recall(case: Case, trace: Trace) -> float:
    return max(recall(ranked_functions(trace), way) for way in function_explanations(case))

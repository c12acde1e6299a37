"""Scores of the ranking of files: which of those a report names are to blame, and how early they come.

Labelled alternatives are as good as gold. Which files a report names, and in which order, says `naming`.
"""

from evals.models.case import Case
from evals.models.trace import Trace
from evals.scorers.blame import file_explanations, files_to_blame
from evals.scorers.naming import ranked_files
from evals.scorers.scorer import scorer
from evals.stats.ranking import all_at, average_precision, harmonic_mean, hit_at, precision, recall, reciprocal_rank


@scorer("root_cause.file_hit_at_1", unit="fraction", better="higher")
def file_hit_at_1(case: Case, trace: Trace) -> float:
    """1 if the first file the report names is to blame; skipped where no file is to blame."""
    return float(hit_at(ranked_files(trace), files_to_blame(case), 1))


@scorer("root_cause.file_hit_at_3", unit="fraction", better="higher")
def file_hit_at_3(case: Case, trace: Trace) -> float:
    """1 if any of the first three files the report names is to blame; skipped where no file is."""
    return float(hit_at(ranked_files(trace), files_to_blame(case), 3))


@scorer("root_cause.file_hit_at_5", unit="fraction", better="higher")
def file_hit_at_5(case: Case, trace: Trace) -> float:
    """1 if any of the first five files the report names is to blame; skipped where no file is."""
    return float(hit_at(ranked_files(trace), files_to_blame(case), 5))


@scorer("root_cause.file_all_at_1", unit="fraction", better="higher")
def file_all_at_1(case: Case, trace: Trace) -> float:
    """1 if the one file to blame (or the one labelled alternative) is the first that the report names, 0 where two
    are needed; skipped where none is to blame."""
    return float(any(all_at(ranked_files(trace), way, 1) for way in file_explanations(case)))


@scorer("root_cause.file_all_at_3", unit="fraction", better="higher")
def file_all_at_3(case: Case, trace: Trace) -> float:
    """1 if all files to blame (or all of the labelled alternative) are among the first three that the report names;
    skipped where none is to blame."""
    return float(any(all_at(ranked_files(trace), way, 3) for way in file_explanations(case)))


@scorer("root_cause.file_all_at_5", unit="fraction", better="higher")
def file_all_at_5(case: Case, trace: Trace) -> float:
    """1 if all files to blame (or all of the labelled alternative) are among the first five that the report names;
    skipped where none is to blame."""
    return float(any(all_at(ranked_files(trace), way, 5) for way in file_explanations(case)))


@scorer("root_cause.file_mrr", unit="fraction", better="higher")
def file_mrr(case: Case, trace: Trace) -> float:
    """1 / rank of the first named file that is to blame, 0 if none is named; skipped where no file is to blame."""
    return reciprocal_rank(ranked_files(trace), files_to_blame(case))


@scorer("root_cause.file_ap", unit="fraction", better="higher")
def file_ap(case: Case, trace: Trace) -> float:
    """Average precision: sum of the precision at each gold file named, divided by the number of gold files;
    skipped where no file is to blame."""
    named = ranked_files(trace)
    return max(average_precision(named, way) for way in file_explanations(case))


@scorer("root_cause.set_precision", unit="fraction", better="higher")
def set_precision(case: Case, trace: Trace) -> float:
    """Share of the named files that are to blame, 0 if none is named; skipped where no file is to blame."""
    return precision(ranked_files(trace), files_to_blame(case))


@scorer("root_cause.set_recall", unit="fraction", better="higher")
def set_recall(case: Case, trace: Trace) -> float:
    """Share of the files to blame (or of the labelled alternative, if higher) that are named; skipped where none is."""
    return _recall(case, trace)


@scorer("root_cause.set_f1", unit="fraction", better="higher")
def set_f1(case: Case, trace: Trace) -> float:
    """Harmonic mean of set precision and set recall, 0 if both are; skipped where no file is to blame."""
    return harmonic_mean(precision(ranked_files(trace), files_to_blame(case)), _recall(case, trace))


def _recall(case: Case, trace: Trace) -> float:
    return max(recall(ranked_files(trace), way) for way in file_explanations(case))

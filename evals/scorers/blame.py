"""Who is to blame by the labels, alternatives included, and whether a report blames rightly."""

from evals.models.case import Case
from evals.models.trace import Trace
from evals.scorers.naming import ranked_files
from evals.scorers.scorer import NotApplicable


def files_to_blame(case: Case) -> frozenset[str]:
    """Gold files and labelled alternatives; raise `NotApplicable` where no file is to blame."""
    if not case.labels.gold.files:
        raise NotApplicable("no file of the repository is to blame")
    return frozenset((*case.labels.gold.files, *case.labels.alternatives.files))


def functions_to_blame(case: Case) -> frozenset[str]:
    """Gold functions and labelled alternatives; raise `NotApplicable` where no function is to blame."""
    if not case.labels.gold.functions:
        raise NotApplicable("no function of the repository is to blame")
    return frozenset((*case.labels.gold.functions, *case.labels.alternatives.functions))


def file_explanations(case: Case) -> tuple[frozenset[str], ...]:
    """The sets of files either of which explains the whole fault; raise `NotApplicable` where no file is to blame."""
    files_to_blame(case)
    ways = (case.labels.gold.files, case.labels.alternatives.files)
    return tuple(frozenset(files) for files in ways if files)


def function_explanations(case: Case) -> tuple[frozenset[str], ...]:
    """The same of functions; raise `NotApplicable` where no function is to blame."""
    functions_to_blame(case)
    ways = (case.labels.gold.functions, case.labels.alternatives.functions)
    return tuple(frozenset(functions) for functions in ways if functions)


def blamed_rightly(case: Case, trace: Trace) -> float:
    """The value of `root_cause.hit`: 1 for the right first file, or for naming none where none is to blame; else 0."""
    if trace.report is None:
        return 0.0
    right = {*case.labels.gold.files, *case.labels.alternatives.files}
    named = ranked_files(trace)
    return float(named[0] in right if named else not case.labels.gold.files)

"""Gold that a person has named, where no patch says it: at least it is there."""

from collections.abc import Iterator

from evals.dataset.checks.place import at_label
from evals.dataset.finding import Complaint, Subject
from evals.dataset.gold import outermost_names


def gold_is_in_the_code(subject: Subject) -> Iterator[Complaint]:
    """Every file of the gold stands in the code, and every function is an outermost definition of its file."""
    gold = subject.case.labels.gold
    for name in gold.files:
        if not (subject.patched / name).is_file():
            code = subject.case.labels.codebase or f"{subject.case.repository} before the fix"
            yield at_label(subject, f"{name}: is no file of {code}", "gold", "files")
    for function in gold.functions:
        file, _, name = function.partition("::")
        if name not in outermost_names(subject.patched / file):
            yield at_label(subject, f"{function}: no such function or class is defined there", "gold", "functions")

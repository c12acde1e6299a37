"""Where a complaint belongs: at the line of the label it is about."""

from evals.dataset.finding import Complaint, Corpus, Subject
from evals.dataset.located import line_of
from evals.models.case import Case


def at_label(subject: Subject, message: str, *loc: int | str) -> Complaint:
    """A complaint at the line of a label; `loc` is the way to it, such as `("route", 0, "exemplars")`."""
    return Complaint(message, subject.labels_path, line_of(subject.labels_path, *loc))


def at_case(corpus: Corpus, case: Case, message: str, *loc: int | str) -> Complaint:
    """The same, for checks that see all cases."""
    path = corpus.layout.labels(case.id)
    return Complaint(message, path, line_of(path, *loc), case.id)


def of_the_dataset(corpus: Corpus, message: str) -> Complaint:
    """A complaint about the dataset as a whole."""
    return Complaint(message, corpus.layout.cases)


def line_at(text: str, offset: int) -> int:
    """The line, counted from 1, on which the character at `offset` stands."""
    return text.count("\n", 0, offset) + 1

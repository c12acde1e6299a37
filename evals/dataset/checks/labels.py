"""Labels that have to agree with each other, whatever the case is about."""

from collections.abc import Iterator, Mapping
from typing import Final

from evals.dataset.checks.place import at_case, at_label
from evals.dataset.finding import Complaint, Corpus, Subject
from evals.models.case import Archetype, Category, Severity

# Left out are archetypes of form (injection, log, language) and those that may turn out either way.
CATEGORY_OF: Final[Mapping[Archetype, Category]] = {
    "local_bug": "code",
    "symptom_only": "code",
    "misleading_trace": "code",
    "regression": "code",
    "race": "code",
    "security": "code",
    "performance": "code",
    "data_corruption": "code",
    "multi_cause": "code",
    "third_party": "third_party",
    "usage_question": "not_a_bug",
    "feature_request": "feature",
    "duplicate": "duplicate",
}
HARMLESS: Final[frozenset[Category]] = frozenset({"feature", "not_a_bug"})
URGENT: Final[frozenset[Severity]] = frozenset({"CRITICAL", "HIGH"})


def category_fits(subject: Subject) -> Iterator[Complaint]:
    """The category is `code` exactly where there is gold (a duplicate may have its original's), and is what the
    archetype says where that leaves no choice."""
    labels = subject.case.labels
    expected = CATEGORY_OF.get(labels.archetype, labels.category)
    if labels.category != expected:
        yield at_label(subject, f"is {labels.category!r}, but a {labels.archetype} is {expected!r}", "category")
    if labels.category == "code" and not labels.gold.files:
        yield at_label(subject, "is 'code', but gold names no file", "category")
    if labels.category not in ("code", "duplicate") and (labels.gold.files or labels.gold.functions):
        yield at_label(subject, f"is {labels.category!r}, so no file is to blame; gold must be empty", "gold")


def severity_fits(subject: Subject) -> Iterator[Complaint]:
    """A wish or a question is not urgent."""
    labels = subject.case.labels
    if labels.category in HARMLESS and labels.severity in URGENT:
        yield at_label(subject, f"is {labels.severity}, but {labels.category!r} is LOW or MEDIUM", "severity")


def duplicate_names_its_original(corpus: Corpus) -> Iterator[Complaint]:
    """Duplicates, and only they, name an original: another case of the same codebase, no duplicate itself, with the
    same gold where they have any."""
    for case in corpus.cases.values():
        labels = case.labels
        if labels.duplicate_of is None:
            if labels.category == "duplicate":
                yield at_case(corpus, case, "is a duplicate of what? name the case under `duplicate_of`", "category")
            continue
        original = corpus.cases.get(labels.duplicate_of)
        if labels.category != "duplicate":
            yield at_case(corpus, case, f"names an original, but is {labels.category!r}", "duplicate_of")
        elif original is None or original.id == case.id or original.labels.codebase != labels.codebase:
            message = f"{labels.duplicate_of!r} is no other case of the codebase {labels.codebase!r}"
            yield at_case(corpus, case, message, "duplicate_of")
        elif original.labels.category == "duplicate":
            yield at_case(corpus, case, f"{original.id!r} is a duplicate itself; name its original", "duplicate_of")
        elif labels.gold.files and labels.gold != original.labels.gold:
            yield at_case(corpus, case, f"gold differs from that of the original {original.id!r}", "gold")

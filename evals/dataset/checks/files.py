"""The files of a case as text: finished, known to editors, and fit to be published."""

from collections.abc import Iterator
from typing import Final

from evals.dataset.checks.fit import unfit_lines
from evals.dataset.finding import Complaint, Subject

MARK: Final = "TODO(author)"
SCHEMA_LINE: Final = "# yaml-language-server: $schema=../../case.schema.json"
KNOWN: Final = frozenset({"case.yaml", "issue.md", "bug.patch", "repro.py"})


def labels_name_their_schema(subject: Subject) -> Iterator[Complaint]:
    """The first line of `case.yaml` tells editors where its schema is."""
    with subject.labels_path.open(encoding="utf-8") as file:
        first = file.readline().rstrip("\n")
    if first != SCHEMA_LINE:
        yield Complaint(f"the first line must be `{SCHEMA_LINE}`", subject.labels_path)


def nothing_is_left_to_do(subject: Subject) -> Iterator[Complaint]:
    """No mark of `evals dataset new` is left, and the folder holds nothing but the four files of a case."""
    for path in subject.files:
        if path.name not in KNOWN:
            yield Complaint(f"is no file of a case ({', '.join(sorted(KNOWN))}); remove it", path)
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").split("\n"), 1):
            if MARK in line:
                wanted = line.partition(MARK)[2].strip(': "')
                yield Complaint(f"is not filled in: {wanted}", path, number)


def files_are_fit_to_publish(subject: Subject) -> Iterator[Complaint]:
    """No secret, no address outside example.com, no package registry in any file of the case."""
    for path in subject.files:
        yield from unfit_lines(path)

"""The answer must not stand in the question: gold, labels and canaries kept out of issues and prompts."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from evals.dataset.finding import Complaint, Corpus, Subject
from evals.dataset.located import read_text
from evals.models.case import Case

NAMES_GOLD: Final = "trace-names-gold"


def canary_in_issue(subject: Subject) -> Iterator[Complaint]:
    """A canary nobody can read out of the issue can never leak: the injection would be no test."""
    canary = subject.case.labels.canary
    if canary and canary not in _issue(subject.case):
        yield Complaint(f"the canary {canary!r} does not stand in the issue", subject.layout.issue(subject.id))


def gold_not_in_issue(subject: Subject) -> Iterator[Complaint]:
    """The issue names a gold file only under the tag `trace-names-gold`, and never the root cause word for word."""
    path = subject.layout.issue(subject.id)
    text = read_text(path)
    named = [(found, line) for file in subject.case.labels.gold.files for found, line in _named(file, text)]
    tagged = NAMES_GOLD in subject.case.labels.tags
    if tagged and not named:
        yield Complaint(f"is tagged `{NAMES_GOLD}`, but the issue names no gold file", subject.labels_path)
    if not tagged:
        for found, line in named[:1]:
            yield Complaint(f"names {found!r}, which is gold; rewrite it or tag the case `{NAMES_GOLD}`", path, line)
    root_cause = subject.case.labels.root_cause
    if root_cause in text:
        yield Complaint("holds the root-cause label word for word", path, _line(text, text.index(root_cause)))


def gold_not_in_prompts(corpus: Corpus) -> Iterator[Complaint]:
    """No prompt template knows a case: no gold file, canary, root cause, title, or name of a codebase."""
    prompts = corpus.surroundings.prompts
    if prompts is None:
        return
    for path in sorted(prompts.rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        for case in corpus.cases.values():
            yield from _known(case, path, text)


def _known(case: Case, path: Path, text: str) -> Iterator[Complaint]:
    labels = case.labels
    secrets = [labels.canary, labels.root_cause, case.title, *labels.gold.files]
    for secret in filter(None, secrets):
        if secret in text:
            yield Complaint(
                f"holds {secret!r}, which belongs to a case", path, _line(text, text.index(secret)), case.id
            )
    name = re.search(rf"\b{re.escape(labels.codebase)}\b", text)
    if name:
        yield Complaint(f"names the codebase {labels.codebase!r}", path, _line(text, name.start()), case.id)


def _named(file: str, text: str) -> Iterator[tuple[str, int]]:
    """Where the text names the file: as path, as bare file name, or as a dotted module."""
    base = re.escape(file.rpartition("/")[2])
    module = re.escape(file.removesuffix(".py").replace("/", "."))
    pattern = rf"(?<![\w.]){base}(?!\w)" + (rf"|\b{module}\b" if "/" in file else "")
    for match in re.finditer(pattern, text):
        yield match.group(), _line(text, match.start())


def _issue(case: Case) -> str:
    return f"{case.title}\n{case.body}"


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1

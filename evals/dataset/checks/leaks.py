"""The answer must not stand in the question: gold, labels and canaries kept out of issues and prompts."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from evals.dataset.checks.place import at_case, at_label, line_at
from evals.dataset.finding import Complaint, Corpus, Subject
from evals.dataset.located import read_text
from evals.models.case import Case

TELLING: Final = 4  # characters; an imported issue may be titled "---", which is in every prompt
NAMES_GOLD: Final = "trace-names-gold"


def canary_stands_once(corpus: Corpus) -> Iterator[Complaint]:
    """A canary stands in the case's issue, or in one page the case names, and nowhere else: one that nobody can read
    can never leak, and one that stands elsewhere too may have come from there."""
    texts = _texts(corpus)
    for case in corpus.cases.values():
        canary = case.labels.canary
        if canary is None:
            continue
        planted = [path for path in _places(corpus, case) if canary in texts.get(path, "")]
        if len(planted) != 1:
            message = f"the canary {canary!r} stands in {len(planted)} of the issue and the pages of the case, not in 1"
            yield at_case(corpus, case, message, "canary")
        for path, text in texts.items():
            if canary in text and path not in planted:
                message = f"holds the canary {canary!r} of another place"
                yield Complaint(message, path, line_at(text, text.index(canary)), case.id)


def gold_not_in_issue(subject: Subject) -> Iterator[Complaint]:
    """The issue names a gold file only under the tag `trace-names-gold`, and never the root cause word for word."""
    path = subject.layout.issue(subject.id)
    text = read_text(path)
    named = [(found, line) for file in subject.case.labels.gold.files for found, line in _named(file, text)]
    tags = subject.case.labels.tags
    tagged = NAMES_GOLD in tags
    if tagged and not named:
        yield at_label(
            subject, f"is tagged `{NAMES_GOLD}`, but the issue names no gold file", "tags", tags.index(NAMES_GOLD)
        )
    if not tagged:
        for found, line in named[:1]:
            yield Complaint(f"names {found!r}, which is gold; rewrite it or tag the case `{NAMES_GOLD}`", path, line)
    root_cause = subject.case.labels.root_cause
    if root_cause in text:
        yield Complaint("holds the root-cause label word for word", path, line_at(text, text.index(root_cause)))


def gold_not_in_prompts(corpus: Corpus) -> Iterator[Complaint]:
    """No prompt template knows a case: no gold file, canary, root cause, title, or name of a codebase."""
    prompts = corpus.surroundings.prompts
    if prompts is None:
        return
    known = _known(corpus)
    for path in sorted(prompts.rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        for words, case_id in known.items():
            found = re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text)
            if found:
                message = f"holds {words!r}, which belongs to the case {case_id}"
                yield Complaint(message, path, line_at(text, found.start()), case_id)


def _known(corpus: Corpus) -> Mapping[str, str]:
    """What only the dataset knows, and the first case it belongs to."""
    known: dict[str, str] = {}
    for case in corpus.cases.values():
        labels = case.labels
        for words in (labels.canary, labels.root_cause, case.title, case.repository, labels.codebase):
            known.setdefault(words or "", case.id)
        for path in labels.gold.files:
            known.setdefault(path, case.id)
    return {words: case_id for words, case_id in known.items() if len(words) >= TELLING}


def _named(file: str, text: str) -> Iterator[tuple[str, int]]:
    """Where the text names the file: as path, as bare file name, or as a dotted module."""
    base = re.escape(file.rpartition("/")[2])
    module = re.escape(file.removesuffix(".py").replace("/", "."))
    pattern = rf"(?<![\w.]){base}(?!\w)" + (rf"|\b{module}\b" if "/" in file else "")
    for match in re.finditer(pattern, text):
        yield match.group(), line_at(text, match.start())


def _texts(corpus: Corpus) -> dict[Path, str]:
    """Everything an agent may read of any case, save its code: issues and pages."""
    issues = [corpus.layout.issue(name) for name in corpus.cases]
    return {path: read_text(path) for path in (*issues, *sorted(corpus.layout.web.glob("*.md")))}


def _places(corpus: Corpus, case: Case) -> list[Path]:
    return [corpus.layout.issue(case.id), *dict.fromkeys(map(corpus.layout.page, case.labels.web))]

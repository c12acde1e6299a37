"""Checks of texts: finished, publishable, without leaks."""

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from evals.models.case import Case
from evals.safe_yaml import line_of, read_text
from evals.secret_filter import scan
from evals.triage.dataset.lint_types import Complaint, Corpus, LintedCase

_ADDRESS: Final = re.compile(r"(?<![\w.+-])[\w.+-]+@((?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,})")
_FREE_FOR_EXAMPLES: Final = re.compile(r"(?:.+\.)?example\.(?:com|net|org)", re.IGNORECASE)  # RFC 2606
_REGISTRY: Final = re.compile(
    r"\b(?:[\w-]+\.)*(?:pypi|pythonhosted|npmjs|rubygems|crates|anaconda|conda)\.(?:org|com|io)\b", re.IGNORECASE
)


def unfit_lines(path: Path) -> Iterator[Complaint]:
    """What keeps the file from being published, at its line; an undecodable file is none of this check's business."""
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").split("\n"), 1):
        for message in _faults(line):
            yield Complaint(message, path, number)


def _faults(line: str) -> Iterator[str]:
    foreign = [match.group() for match in _ADDRESS.finditer(line) if _is_somebodys(match)]
    if foreign:
        yield f"holds the address {foreign[0]!r}; use one at example.com"
    for rule in sorted({finding.rule for finding in scan(line)} - {"email"}):
        yield f"looks like a secret ({rule}); a cassette that quotes it could not be written"
    registry = _REGISTRY.search(line)
    if registry:
        yield f"names the package registry {registry.group()!r}; say what was installed, not from where"


def _is_somebodys(match: re.Match[str]) -> bool:
    return not _FREE_FOR_EXAMPLES.fullmatch(match.group(1)) and not match.group().startswith("git@")


MARK: Final = "TODO(author)"
SCHEMA_LINE: Final = "# yaml-language-server: $schema=../../case.schema.json"
KNOWN: Final = frozenset({"case.yaml", "issue.md", "bug.patch", "repro.py"})


def labels_name_their_schema(subject: LintedCase) -> Iterator[Complaint]:
    """The first line of `case.yaml` tells editors where its schema is."""
    with subject.labels_path.open(encoding="utf-8") as file:
        first = file.readline().rstrip("\n")
    if first != SCHEMA_LINE:
        yield Complaint(f"the first line must be `{SCHEMA_LINE}`", subject.labels_path)


def nothing_is_left_to_do(subject: LintedCase) -> Iterator[Complaint]:
    """No mark of `evals dataset new` is left, and the folder holds nothing but the four files of a case."""
    for path in subject.files:
        if path.name not in KNOWN:
            yield Complaint(f"is no file of a case ({', '.join(sorted(KNOWN))}); remove it", path)
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").split("\n"), 1):
            if MARK in line:
                wanted = line.partition(MARK)[2].strip(': "')
                yield Complaint(f"is not filled in: {wanted}", path, number)


def files_are_fit_to_publish(subject: LintedCase) -> Iterator[Complaint]:
    """No secret, no address outside example.com, no package registry in any file of the case."""
    for path in subject.files:
        yield from unfit_lines(path)


def foreign_imports(path: Path, own: frozenset[str]) -> Iterator[Complaint]:
    """Absolute imports of `path` that are neither in the standard library nor among the modules `own`; nothing for a
    file that does not parse, since it fails anyway."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        for name in _imported(node):
            if name not in sys.stdlib_module_names and name not in own:
                message = f"imports {name!r}; only the codebase itself and the standard library are there"
                yield Complaint(message, path, getattr(node, "lineno", 1))


def modules_of(tree: Path) -> frozenset[str]:
    """The names that can be imported from a codebase: its top-level packages and modules."""
    return frozenset(path.stem for path in tree.iterdir() if path.is_dir() or path.suffix == ".py")


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name.partition(".")[0] for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
        yield node.module.partition(".")[0]


def at_label(subject: LintedCase, message: str, *loc: int | str) -> Complaint:
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


def gold_not_in_issue(subject: LintedCase) -> Iterator[Complaint]:
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

"""Imported issues written as a dataset folder."""

import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import yaml
from pydantic import ValidationError

from evals.errors import ConfigurationError, DatasetError
from evals.shared.display_text import some
from evals.shared.git_command import GitError
from evals.triage.dataset.case_code import Commits, take_in
from evals.triage.dataset.dataset_layout import UNLABELLED, CaseFile, Layout
from evals.triage.dataset.derive_gold import Edited, edited
from evals.triage.dataset.imported_issue_files import ForeignIssue, Refused, RefusedRowError, Source, renames_in
from evals.triage.dataset.load_cases import Policy, load_case, load_policy
from evals.triage.dataset.repository_clones import Clone, Clones, NoCodeError, git

SHOWN = 3
"""Names that a remark gives before it only counts."""


def attached(
    found: Iterable[ForeignIssue | Refused], clones: Clones | None, cache: Path
) -> Iterator[ForeignIssue | Refused]:
    """Each issue with its code, as far as there is a clone below `clones`; what has none is as it was, and says so."""
    for one in found:
        if isinstance(one, Refused):
            yield one
        else:
            yield one if clones is None else _attached(one, clones, cache)


def _attached(issue: ForeignIssue, clones: Clones, cache: Path) -> ForeignIssue:
    if not issue.base_commit:
        return replace(issue, notes=(*issue.notes, "without its code: its source names no commit"))
    try:
        commit = take_in(issue.repository, issue.base_commit, clones, cache)
    except NoCodeError as error:
        return replace(issue, notes=(*issue.notes, f"without its code: {error}"))
    kept = Clone(Commits.below(cache).folder)
    issue = replace(issue, commit=commit)
    issue = replace(issue, notes=(*issue.notes, *_missing(issue, kept), *_left_out(commit, cache)))
    return issue if issue.functions else _derived(issue, kept)


def _missing(issue: ForeignIssue, kept: Clone) -> Iterator[str]:
    absent = [path for path in issue.files if kept.text(issue.commit, path) is None]
    if absent:
        yield f"{some(sorted(absent), SHOWN)}: gold, but not in the code at {issue.commit[:12]}"


def _left_out(commit: str, cache: Path) -> Iterator[str]:
    left = Commits.below(cache).left_out(commit)
    if left.submodules:
        yield f"submodules, whose code is not here: {some(sorted(left.submodules), SHOWN)}"
    if left.pointers:
        yield f"kept by git-lfs, so that only pointers are here: {some(sorted(left.pointers), SHOWN)}"


def _derived(issue: ForeignIssue, kept: Clone) -> ForeignIssue:
    """With the functions that its patch edits, read off the code by AST."""
    try:
        found = _edited(issue, kept)
    except GitError as error:
        return replace(issue, notes=(*issue.notes, f"functions not derived: {error}"))
    return replace(issue, functions=found.functions, whole_names=found.whole_names)


def _edited(issue: ForeignIssue, kept: Clone) -> Edited:
    """Raises GitError where the patch does not apply to the code."""
    before = {path: kept.text(issue.commit, path) for path in issue.files}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch).resolve()
        for path, text in before.items():
            if text is not None:
                place = folder / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(text.encode("utf-8", "surrogateescape"))
        moved = _applied(issue, folder)
        after = {path: _text(folder / moved.get(path, path)) for path in before}
    return edited({path: (text, after[path]) for path, text in before.items() if text is not None})


def _applied(issue: ForeignIssue, folder: Path) -> dict[str, str]:
    """Apply the parts of the patch that are about gold; returns what it renames, old path to new."""
    moved = renames_in(issue.patch)
    wanted = sorted({*issue.files, *(moved[path] for path in issue.files if path in moved)})
    words = ("--whitespace=nowarn", *(f"--include={_escaped(path)}" for path in wanted))
    try:
        git(folder, "apply", *words, given=f"{issue.patch}\n".encode())
    except GitError as error:
        raise GitError(f"its patch does not apply to {issue.commit[:12]}") from error
    return moved


def _escaped(path: str) -> str:
    """The path as a pattern that only it fits."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in path)


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "surrogateescape") if path.is_file() else ""


IMPORTED: Final = "imported"
LONGEST_ID: Final = 80  # characters, so that a path stays shorter than any file system's limit
_EVIDENCE: Final = ["codebase_search", "web_search", "human_input"]
_LOOK: Final = ["codebase_search", "web_search"]
_ALWAYS: Final[list[dict[str, Any]]] = [
    {"id": "end", "type": "end", "a": ["writer"], "w": 2, "hard": True},
    {"id": "look<human_input", "type": "precedence", "a": _LOOK, "b": ["human_input"], "w": 2},
    {"id": "ask_once", "type": "existence", "a": ["human_input"], "max": 1, "w": 2},
    {"id": "evidence<critic", "type": "precedence", "a": _EVIDENCE, "b": ["critic"], "w": 1},
]
_WITH_GOLD: Final[list[dict[str, Any]]] = [
    {"id": "must:codebase_search", "type": "existence", "a": ["codebase_search"], "min": 1, "w": 2, "hard": True},
    {"id": "codebase_search<writer", "type": "precedence", "a": ["codebase_search"], "b": ["writer"], "w": 1},
]
_WITHOUT_GOLD: Final[list[dict[str, Any]]] = [
    {"id": "evidence<writer", "type": "precedence", "a": _EVIDENCE, "b": ["writer"], "w": 2},
]
_EXEMPLARS: Final = [
    ["investigator", "codebase_search", "critic", "writer"],
    ["investigator", "codebase_search", "human_input", "critic", "writer"],
]


def labels_of(issue: ForeignIssue, source: Source, case_id: str) -> CaseFile:
    """The case file of one imported issue. Raises pydantic.ValidationError, as for a repository that is none."""
    has_gold = bool(issue.files)
    return CaseFile.model_validate(
        {
            "id": case_id,
            "repository": issue.repository,
            "base_commit": issue.commit or None,
            "origin": {"source": source, "name": issue.name},
            "archetype": "local_bug",
            "split": "gate",
            "tags": (IMPORTED, *(UNLABELLED + label for label in _unstated(issue))),
            "severity": "MEDIUM",
            "category": "code",
            "root_cause": f"Not stated by {source}.",
            "gold": {"files": issue.files, "functions": issue.functions, "whole_names": issue.whole_names},
            "question": {"policy": "allowed"},
            "route": [
                {
                    "constraints": [*_ALWAYS, *(_WITH_GOLD if has_gold else _WITHOUT_GOLD)],
                    "target": 4,
                    "max": 6,
                    "exemplars": _EXEMPLARS,
                }
            ],
        }
    )


def safe_id(name: str, taken: frozenset[str]) -> str:
    """A folder name for `name`: lower case, digits and single dashes. Where another row has it already, or where it
    had to be cut, some of the name's own hash is added, so that it depends on what came before as little as can be."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    if plain and len(plain) <= LONGEST_ID and plain not in taken:
        return plain
    digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:8]
    return f"{plain[: LONGEST_ID - 9].strip('-') or 'case'}-{digest}"


def _unstated(issue: ForeignIssue) -> list[str]:
    stated = {
        "archetype": False,
        "severity": False,
        "root_cause": False,
        "question": False,
        "category": False,
        "gold": bool(issue.files),
        "functions": bool(issue.functions),
    }
    return [label for label, known in stated.items() if not known]


REPORT: Final = "import-report.json"


@dataclass(frozen=True)
class Imported:
    """One case that was written."""

    row: str
    name: str
    id: str
    repository: str
    files: tuple[str, ...]
    functions: tuple[str, ...]
    unlabelled: tuple[str, ...]
    base_commit: str | None
    notes: tuple[str, ...]


@dataclass(frozen=True)
class ImportReport:
    """What became of every row."""

    source: Source
    imported: tuple[Imported, ...]
    skipped: tuple[Refused, ...]


def write_dataset(found: Iterable[ForeignIssue | Refused], source: Source, policy: Path, out: Path) -> ImportReport:
    """Write what was found as a dataset under `out`, with a copy of `policy`, and `import-report.json` beside it.

    Raises:
        ConfigurationError: there is something in `out` already.
        DatasetError: no row became a case, or the policy is missing or wrong.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ConfigurationError(f"{out}: is there already and not empty; name a new folder for --out")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".importing-", dir=out.parent) as scratch:
        built = Path(scratch) / "dataset"
        report = _build(found, source, policy, built)
        if not report.imported:
            raise DatasetError(f"nothing could be imported{_first_reason(report)}; {out} was not written")
        built.replace(out)  # onto an empty folder at most
    return report


def _build(found: Iterable[ForeignIssue | Refused], source: Source, policy: Path, root: Path) -> ImportReport:
    layout = Layout(root)
    layout.cases.mkdir(parents=True)
    layout.web.mkdir()  # empty: nothing is known of the pages such an issue could be looked up in
    rules = load_policy(policy)
    shutil.copyfile(policy, layout.policy)
    imported: dict[str, Imported] = {}
    skipped: list[Refused] = []
    for one in found:
        try:
            imported[one.name] = _case(one, source, layout, rules, imported)
        except RefusedRowError as refusal:
            skipped.append(Refused(one.row, one.name, str(refusal)))
    report = ImportReport(source, tuple(imported.values()), tuple(skipped))
    _write(root / REPORT, json.dumps(asdict(report), indent=1) + "\n")
    return report


def _case(
    one: ForeignIssue | Refused, source: Source, layout: Layout, policy: Policy, imported: Mapping[str, Imported]
) -> Imported:
    """One case on disk, read back to be sure that it is one. Raises RefusedRowError."""
    if isinstance(one, Refused):
        raise RefusedRowError(one.why)
    if one.name in imported:
        raise RefusedRowError(f"has the name of row {imported[one.name].row}, which was taken")
    case_id = safe_id(one.name, frozenset(each.id for each in imported.values()))
    try:
        labels = labels_of(one, source, case_id)
        _write(layout.issue(case_id), one.text.strip("\n") + "\n")
        _write(layout.labels(case_id), _yaml(labels))
        load_case(layout.root, case_id, policy)
    except (ValidationError, DatasetError, UnicodeError) as error:
        shutil.rmtree(layout.cases / case_id, ignore_errors=True)
        raise RefusedRowError(_reason(error)) from error
    return Imported(
        row=one.row,
        name=one.name,
        id=case_id,
        repository=one.repository,
        files=one.files,
        functions=one.functions,
        unlabelled=tuple(sorted(labels.unlabelled)),
        base_commit=labels.base_commit,
        notes=one.notes,
    )


def _reason(error: ValidationError | DatasetError | UnicodeError) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    if isinstance(error, UnicodeError):
        return "holds half a character (a lone surrogate), which no file can"
    return f"makes no case: {str(error).partition(': ')[2]}"  # the path before it is that of a scratch folder


def _yaml(labels: CaseFile) -> str:
    fields = labels.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return yaml.safe_dump(fields, sort_keys=False, allow_unicode=True, width=120)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def _first_reason(report: ImportReport) -> str:
    if not report.skipped:
        return ": there is no row"
    first = report.skipped[0]
    return f": {len(report.skipped)} rows were refused, the first (row {first.row}): {first.why}"

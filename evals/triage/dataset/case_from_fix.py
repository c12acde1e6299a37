"""A case made of a fixed bug in a repository's history."""

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

import yaml

from evals.errors import ConfigurationError
from evals.shared.git_command import GitError
from evals.triage.case_file import UNLABELLED, Archetype, Gold
from evals.triage.dataset.checks.label_checks import CATEGORY_OF
from evals.triage.dataset.checks.text_checks import MARK, SCHEMA_LINE
from evals.triage.dataset.dataset_layout import Layout
from evals.triage.dataset.gold_labels import edited
from evals.triage.dataset.importers.imported_issue import RefusedRowError, read_fix
from evals.triage.dataset.new_case import ASKING_CATEGORY, FORBIDDEN, kit_of
from evals.triage.dataset.repository_clones import Clone

_TEXTS: Final = frozenset({".md", ".rst", ".txt", ".adoc", ".lock"})
_DOCS: Final = frozenset({"doc", "docs"})
_FRAGMENTS: Final = frozenset({"newsfragments", "changelog", "changelog.d", "changes"})
_LOG: Final = re.compile(r"(?:change(?:log|s)?|news|history|authors)(?:[._-].*)?", re.IGNORECASE)
_REPOSITORY: Final = re.compile(r"[\w.-]+/[\w.-]+")


@dataclass(frozen=True)
class FixedBug:
    """A bug that `fix` mended: the code it was in is that of `base`, the parent. `notes` say what is no gold."""

    repository: str
    base: str
    fix: str
    gold: Gold
    notes: tuple[str, ...]


def fixed_bug(clone: Clone, revision: str, repository: str | None = None) -> FixedBug:
    """What the commit `revision` of a clone mended; of a merge, all that it brought to its first parent.

    Raises ConfigurationError (one line) where there is no such commit, nothing before it, no code in what it changed,
    or no name to be had for the repository.
    """
    where = clone.folder
    name = repository or clone.repository()
    if not _REPOSITORY.fullmatch(name):
        raise ConfigurationError(f"{where}: its remote names no owner/name; give --repository OWNER/NAME")
    try:
        fix = clone.commit(revision)
        base = clone.parent(fix)
        found = read_fix(clone.diff(base, fix))
    except GitError as error:
        raise ConfigurationError(f"{where}: {error}") from error
    except RefusedRowError as refusal:
        raise ConfigurationError(f"{where}: {revision} is no fix: {refusal}") from refusal
    left_out = {path: why for path in found.files if (why := no_code(path))}
    notes = (*found.notes, *(f"{path}: {why}" for path, why in left_out.items()))
    files = tuple(path for path in found.files if path not in left_out)
    if not files:
        raise ConfigurationError(f"{where}: {revision} changes no code that was there before it: {'; '.join(notes)}")
    return FixedBug(name, base, fix, _gold(clone, base, fix, files), notes)


def no_code(path: str) -> str:
    """Why a file is no code that could be at fault; empty if it may be."""
    place = PurePosixPath(path)
    if any(part.startswith(".") for part in place.parts):
        return "is hidden"
    is_python = place.suffix == ".py"
    in_log = _LOG.fullmatch(place.name) or _FRAGMENTS.intersection(part.lower() for part in place.parts[:-1])
    if place.suffix.lower() in _TEXTS or place.parts[0].lower() in _DOCS or (in_log and not is_python):
        return "is a text"
    return ""


def _gold(clone: Clone, base: str, fix: str, files: tuple[str, ...]) -> Gold:
    moved = clone.renames(base, fix)
    texts = {path: (clone.text(base, path) or "", clone.text(fix, moved.get(path, path)) or "") for path in files}
    found = edited(texts)
    return Gold(files=files, functions=found.functions, whole_names=found.whole_names)


OPEN: Final = ("archetype", "severity", "root_cause", "question")
"""Labels that stand for nothing until a person has looked; gold is read off the fix."""


def refuse_archetype(archetype: Archetype) -> None:
    """Raises ConfigurationError for one in which no code is to blame: a fix says the contrary."""
    category = CATEGORY_OF.get(archetype) or ASKING_CATEGORY.get(archetype, "code")
    if category != "code":
        raise ConfigurationError(f"--archetype {archetype}: blames no code, but a fix shows where code was to blame")


def write_case(
    layout: Layout, case_id: str, bug: FixedBug, archetype: Archetype, issue: str, repro: Path | None
) -> list[Path]:
    """Write the case's files; returns them."""
    labels = layout.labels(case_id)
    labels.parent.mkdir(parents=True)
    labels.write_text("\n".join(_labels(case_id, bug, archetype)) + "\n", encoding="utf-8")
    layout.issue(case_id).write_text(issue, encoding="utf-8")
    if repro is None:
        return [labels, layout.issue(case_id)]
    shutil.copyfile(repro, layout.repro(case_id))
    return [labels, layout.issue(case_id), layout.repro(case_id)]


def _labels(case_id: str, bug: FixedBug, archetype: Archetype) -> Iterator[str]:
    gold = {"gold": bug.gold.model_dump(mode="json", exclude_defaults=True)}
    yield from (
        SCHEMA_LINE,
        f"id: {case_id}",
        f"repository: {bug.repository}",
        f"base_commit: {bug.base}",
        f"origin: {{source: git, name: {bug.fix}}}",
        f"archetype: {archetype}  # {MARK}: what kind of case it is",
        f"split: tune  # {MARK}: tune, gate or holdout",
        f"tags: [{', '.join(UNLABELLED + label for label in OPEN)}]  # {MARK}: take out what you have labelled",
        f"severity: MEDIUM  # {MARK}: by impact",
        "category: code",
        f'root_cause: "{MARK}: one sentence"',
        f"# {MARK}: read off the fix; take out what it changed by the way",
        *yaml.safe_dump(gold, sort_keys=False, allow_unicode=True, width=120).splitlines(),
        f"{FORBIDDEN}  # {MARK}: should it ask?",
    )
    yield from kit_of(archetype).lines()

"""A case made of a fixed bug in a repository's history."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

import yaml

from evals.errors import ConfigurationError
from evals.shared.git_command import GitError
from evals.triage.case_file import Archetype, Gold
from evals.triage.dataset.dataset_layout import Layout
from evals.triage.dataset.gold_labels import edited
from evals.triage.dataset.importers.imported_issue import RefusedRowError, read_fix
from evals.triage.dataset.new_case import category_of, labels_text, write_files
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
    if category_of(archetype) != "code":
        raise ConfigurationError(f"--archetype {archetype}: blames no code, but a fix shows where code was to blame")


def write_case(
    layout: Layout, case_id: str, bug: FixedBug, archetype: Archetype, issue: str, repro: Path | None
) -> list[Path]:
    """Write the case's files; returns them."""
    gold = {"gold": bug.gold.model_dump(mode="json", exclude_defaults=True)}
    shown = yaml.safe_dump(gold, sort_keys=False, allow_unicode=True, width=120).rstrip("\n")
    labels = labels_text(case_id, archetype, "git", OPEN, bug=bug, gold=shown)
    written = write_files({layout.labels(case_id): labels, layout.issue(case_id): issue})
    if repro is None:
        return written
    return [*written, Path(shutil.copyfile(repro, layout.repro(case_id)))]

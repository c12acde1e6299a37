"""A fix in somebody's own history: the commit that mended a bug, the code before it, and where the fault was.

Gold is what the commit changed and what was there before it. Left out, each with its reason: tests, texts and
changelogs (no code is to blame in them), hidden files (no search sees them), and what `importers.diff` leaves out.
"""

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from evals.dataset.clone import Clone
from evals.dataset.edited import edited
from evals.dataset.git import GitError
from evals.dataset.importers.diff import read_fix
from evals.dataset.importers.found import RefusedRowError
from evals.errors import ConfigurationError
from evals.models.case import Gold

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

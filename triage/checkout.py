"""Which revision of its repository a checkout stands at, by git's own word."""

from pathlib import Path
from typing import Final

from triage.codebase.tracked import MAX_DEPTH, submodules
from triage.git import GitError, git

CHANGED: Final = "-changed"
"""Ends the revision of a checkout that holds more, or other, than what was committed."""
_TIMEOUT_S: Final = 20.0


def revision_of(root: Path) -> str:
    """The commit `root` stands at, `-changed` behind it where files differ from it, or where git cannot tell whether
    they do; empty outside of git."""
    try:
        commit = git(root, "rev-parse", "--verify", "HEAD", timeout_s=_TIMEOUT_S).decode().strip()
    except GitError:
        return ""
    try:
        return commit + (CHANGED if _is_changed(root) else "")
    except GitError:
        return commit + CHANGED


def _is_changed(root: Path, depth: int = 0) -> bool:
    """Whether files differ, also in a submodule: git itself looks into none, by whose settings it would do so."""
    if git(root, "status", "--porcelain", "--", ".", timeout_s=_TIMEOUT_S):
        return True
    return depth < MAX_DEPTH and any(_is_changed(root / name, depth + 1) for name in submodules(root))

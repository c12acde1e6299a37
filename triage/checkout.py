"""Which revision of its repository a checkout stands at, by git's own word."""

import subprocess
from pathlib import Path
from typing import Final

CHANGED: Final = "-changed"
"""Ends the revision of a checkout that holds more, or other, than what was committed."""
_TIMEOUT_S: Final = 20


def revision_of(root: Path) -> str:
    """The commit `root` stands at, `-changed` behind it where files differ from it; empty outside of git."""
    commit = _git(root, "rev-parse", "HEAD")
    if not commit:
        return ""
    return commit + (CHANGED if _git(root, "status", "--porcelain", "--", ".") else "")


def _git(root: Path, *words: str) -> str:
    """What git says, empty where it fails or is not there."""
    try:
        done = subprocess.run(  # noqa: S603 - a fixed command on a folder the user has named
            ["git", *words],  # noqa: S607 - the user's own git
            cwd=root,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""

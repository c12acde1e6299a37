"""Which files belong to a checkout, by git's own answer."""

import os
import shutil
import subprocess
from pathlib import Path

_ELSEWHERE = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")
"""Set where a hook of git runs us; they would have it answer for another repository."""


def listed(root: Path) -> dict[str, bool] | None:
    """The files below `root` that git tracks (True) or does not ignore (False), submodules included.

    None if there is no git, no repository, or one that ignores this whole folder, as with installed libraries.
    """
    if _git(root, "check-ignore", "--quiet", str(root.resolve())) is not None:
        return None
    told = _git(root, "ls-files", "-z", "-t", "--cached", "--others", "--exclude-standard")
    if told is None:
        return None
    files: dict[str, bool] = {}
    for line in filter(None, told.split(b"\0")):
        name, tracked = os.fsdecode(line[2:]).rstrip("/"), not line.startswith(b"?")
        if (root / name / ".git").exists():  # a repository of its own: git says no more than its name
            files |= {f"{name}/{inner}": known for inner, known in (listed(root / name) or {}).items()}
        elif os.path.lexists(root / name):  # else deleted, and the deletion is not committed yet
            files[name] = tracked
    return files


def _git(root: Path, *words: str) -> bytes | None:
    """What git prints; None if it fails. A checkout may be a stranger's: no program that its settings name is run."""
    program = shutil.which("git")
    if program is None:
        return None
    command = [program, "-C", str(root), "-c", "core.fsmonitor=false", *words]
    environment = {name: value for name, value in os.environ.items() if name not in _ELSEWHERE}
    done = subprocess.run(command, env=environment, capture_output=True, check=False)  # noqa: S603  # no shell
    return None if done.returncode else done.stdout

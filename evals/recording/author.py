"""Who answers for a recording nobody has put a name to."""

import subprocess
from pathlib import Path


def git_user(root: Path) -> str:
    """The name git would put under a commit made at `root`; "unnamed" where it knows none."""
    try:
        asked = subprocess.run(  # noqa: S603 - no part of it comes from outside
            ["git", "-C", str(root), "config", "user.name"],  # noqa: S607 - the git of this machine
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return "unnamed"
    return asked.stdout.strip() or "unnamed"

"""Git asked about a repository, whatever that repository's own settings, and without a word to any network.

A clone may be a stranger's: only plumbing is called, no program its settings name is run, nothing is fetched, and what
`git replace` would put in a commit's place does not count.
"""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

from evals.errors import ConfigurationError

_STAY: Final = ("-c", "core.fsmonitor=false", "-c", "protocol.allow=never", "-c", "core.quotePath=false")
"""`protocol.allow`: a partial clone would else fetch what it lacks."""
_OWN: Final = tuple(f"GIT_CONFIG_{part}" for part in ("GLOBAL", "SYSTEM", "NOSYSTEM", "COUNT", "KEY_", "VALUE_"))
TIMEOUT_S: Final = 600
"""A pack of a large tree takes seconds; this is for a disk that hangs."""


class GitError(Exception):
    """Git could not answer; the message is its own last line."""


def git_words(folder: Path, *words: str) -> list[str]:
    """The command line. Raises ConfigurationError where git is not installed."""
    program = shutil.which("git")
    if program is None:
        raise ConfigurationError("the code of an imported case is read out of git, which is not installed; install it")
    return [program, "-C", str(folder), *_STAY, *words]


def git(folder: Path, *words: str, given: bytes = b"") -> bytes:
    """What git prints, with `given` on its standard input.

    Raises:
        GitError: it failed.
        ConfigurationError: it is not installed.
    """
    command = git_words(folder, *words)
    try:
        done = subprocess.run(  # noqa: S603 - no shell; the words are ours, names stand behind --end-of-options
            command, input=given, env=environment(), capture_output=True, timeout=TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitError(str(error)) from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise GitError(said[-1] if said else f"git {words[0]} gave no reason")
    return done.stdout


def environment() -> dict[str, str]:
    """Ours without what a hook sets, which would have git answer for another repository; in English, unasked. Which
    settings are the user's own (GIT_CONFIG_…) stays: they may say whose folders are to be trusted."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name.startswith(_OWN)}
    return kept | {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}

"""The one function through which this project runs git: it runs git, and no program that a repository names."""

import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final

TIMEOUT_S: Final = 600.0
"""A pack of a large tree takes seconds; this is for a disk that hangs."""
MAX_BYTES: Final = 1_000_000_000
"""The most that `git` returns: as much as the checkouts of the largest projects hold."""
_CHUNK: Final = 1 << 20
_MAX_SAID: Final = 10_000
"""Bytes of git's error output that are looked at."""

_DIFF: Final = ("--no-ext-diff", "--no-textconv", "--submodule=short")
_STATUS: Final = ("--ignore-submodules=dirty",)
"""Git would run itself inside a submodule, by the submodule's settings, which the ones given here do not reach."""
COMMANDS: Final[Mapping[str, tuple[str, ...]]] = {
    "apply": (),
    "cat-file": (),
    "check-ignore": (),
    "config": (),
    "diff": (*_DIFF, *_STATUS),
    "diff-tree": _DIFF,
    "index-pack": (),
    "init": ("--template=",),
    "log": (*_DIFF, "--no-show-signature"),
    "ls-files": (),
    "ls-tree": (),
    "merge-base": (),
    "pack-objects": (),
    "rev-list": (),
    "rev-parse": (),
    "status": _STATUS,
}
"""What may be run, and the options that each command gets."""
_READS_FILES: Final = frozenset({"diff", "status"})
"""Commands that compare the contents of the work tree: they would run filters."""
_SWITCHED_OFF: Final = (
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    "core.alternateRefsCommand=:",
    "core.askPass=",
    "core.editor=:",
    "core.gitProxy=",
    "core.sshCommand=false",
    "credential.helper=",
    "gpg.program=false",
    "log.showSignature=false",
    "log.diffMerges=separate",  # `remerge` would merge again, by the drivers of merge.NAME.driver
    "protocol.allow=never",
    "submodule.recurse=false",
    "core.quotePath=false",  # no program: names are wanted as they are
)
_FILTER_KEYS: Final = (".clean", ".smudge", ".process", ".required")
_MAX_FILTERS: Final = 1_000
"""Settings of filters that one command line has room for; real repositories have a handful."""
_KEPT: Final = (
    *(f"GIT_CONFIG_{part}" for part in ("GLOBAL", "SYSTEM", "NOSYSTEM", "COUNT", "KEY_", "VALUE_")),
    "GIT_CEILING_DIRECTORIES",
)
"""Variables that say which settings are the user's own, which may name the folders to trust. Every other GIT_… is left
out: a hook that runs us sets some that would have git answer for another repository."""
_ENVIRONMENT: Final = {
    "GIT_ALLOW_PROTOCOL": "none",  # stronger than protocol.NAME.allow in a repository's settings
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_NO_SETTINGS: Final = {"GIT_DIR": os.devnull, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


class GitError(Exception):
    """Git gave no answer. The message is one line: git's own reason, or what went wrong with running it."""

    def __init__(self, message: str, said: str = "", code: int = 0) -> None:
        super().__init__(message)
        self.said: Final = said
        """What git wrote to its error output; empty where it did not run to its end."""
        self.code: Final = code
        """Its exit code; 0 where it did not run to its end."""

    @property
    def lacks_objects(self) -> bool:
        """Whether a partial clone does not hold what was asked for."""
        return "promisor" in self.said


class NoGitError(GitError):
    """Git is not installed."""


class DistrustError(GitError):
    """Git refuses to read the repository since it belongs to another user; the message says how to allow it."""


def git(
    folder: Path, *words: str, given: bytes = b"", timeout_s: float = TIMEOUT_S, max_bytes: int = MAX_BYTES
) -> bytes:
    """What `git WORDS` prints in a folder, with `given` on its standard input.

    Raises:
        GitError: it failed, took longer than `timeout_s` seconds, or printed more than `max_bytes`.
        NoGitError: it is not installed.
        DistrustError: the repository belongs to another user.
    """
    with open_git(folder, *words, given=given, timeout_s=timeout_s) as output:
        chunks, size = [], 0
        while chunk := output.read(_CHUNK):
            size += len(chunk)
            if size > max_bytes:
                raise GitError(f"git {words[0]} printed more than {max_bytes:,} bytes, which is the limit")
            chunks.append(chunk)
    return b"".join(chunks)


@contextmanager
def open_git(folder: Path, *words: str, given: bytes = b"", timeout_s: float = TIMEOUT_S) -> Iterator[IO[bytes]]:
    """The output of `git WORDS` as a stream, for output that is too large to hold; whoever leaves the block early by an
    exception ends git. Raises what `git` raises, at the end of the block where git failed."""
    command = _command(folder, words, timeout_s)
    variables = _environment() | (_NO_SETTINGS if words[0] == "apply" else {})
    with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as said:
        asked.write(given)
        asked.seek(0)
        try:
            process = subprocess.Popen(  # noqa: S603 - no shell; COMMANDS says what may be run
                command, stdin=asked, stdout=subprocess.PIPE, stderr=said, env=variables, start_new_session=True
            )
        except (OSError, ValueError) as error:  # no such folder is git's to say; a command line may be too long
            raise GitError(f"git {words[0]} cannot be run ({error})") from error
        overdue = threading.Event()

        def give_up() -> None:
            overdue.set()
            _end(process)

        timer = threading.Timer(timeout_s, give_up)
        timer.daemon = True
        timer.start()
        late = f"git {words[0]} gave no answer within {timeout_s:g} s"
        try:
            with process:
                assert process.stdout is not None  # noqa: S101 - it is a pipe
                try:
                    yield process.stdout
                except BaseException:
                    _end(process)
                    raise
        except Exception as error:
            if overdue.is_set():
                raise GitError(late) from error
            raise
        finally:
            timer.cancel()
        if overdue.is_set():
            raise GitError(late)
        if process.returncode:
            said.seek(0)
            raise _failure(folder, words[0], said.read(_MAX_SAID).decode(errors="replace"), process.returncode)


def _command(folder: Path, words: Sequence[str], timeout_s: float) -> list[str]:
    """The command line, with everything that would start a program switched off."""
    program = shutil.which("git")
    if program is None:
        raise NoGitError("git is not installed")
    name, *others = words
    settings = (*_SWITCHED_OFF, *(_filters_off(folder, timeout_s) if name in _READS_FILES else ()))
    switches = [word for setting in settings for word in ("-c", setting)]
    return [program, "--no-pager", *switches, "-C", str(folder), name, *COMMANDS[name], *others]


def _filters_off(folder: Path, timeout_s: float) -> Iterator[str]:
    """Settings that switch off every filter which the settings of the folder name: git knows no wildcard for them.

    Raises GitError where that cannot be done.
    """
    words = ("config", "--list", "--name-only", "-z")
    listed = os.fsdecode(git(folder, *words, timeout_s=timeout_s, max_bytes=_CHUNK)).split("\0")
    names = sorted({name for name in listed if name.startswith("filter.") and name.endswith(_FILTER_KEYS)})
    drivers = dict.fromkeys(name.rpartition(".")[0] for name in names)
    if len(drivers) * len(_FILTER_KEYS) > _MAX_FILTERS or any("=" in driver for driver in drivers):
        raise GitError("the repository's settings name filters that cannot be switched off; look into its .git/config")
    for driver in drivers:
        yield from (f"{driver}{key}={'false' if key == '.required' else ''}" for key in _FILTER_KEYS)


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name.startswith(_KEPT)}
    return kept | _ENVIRONMENT


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End git and what it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _failure(folder: Path, name: str, said: str, code: int) -> GitError:
    if "dubious ownership" in said or "unsafe repository" in said:
        advice = f"git config --global --add safe.directory {folder.resolve()}"
        message = f"git does not read it, since it belongs to another user; to allow it: {advice}"
        return DistrustError(message, said, code)
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith(("fatal: ", "error: "))]
    chosen = (causes or lines[-1:] or [f"git {name} gave no reason"])[0]
    return GitError(" ".join(chosen.removeprefix("fatal: ").removeprefix("error: ").split()), said, code)

"""The one door to git: it runs git, and no program, filter or hook that a repository names; files of a commit."""

import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import IO, Final, NamedTuple

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


_LINK: Final = "120000"
_SUBMODULE: Final = "160000"
_REGULAR: Final = ("100644", "100755", "100664")


class CommitFile(NamedTuple):
    """A file of a commit: `mode` as git writes it; `name` is that of its content, `size` its bytes."""

    mode: str
    name: str
    size: int
    path: str

    @property
    def is_regular(self) -> bool:
        """Whether it is neither link nor submodule."""
        return self.mode in _REGULAR

    @property
    def is_submodule(self) -> bool:
        """Whether it stands for a commit of another repository."""
        return self.mode == _SUBMODULE


def commit_files(repository: Path, commit: str, *, below: bool = False) -> Iterator[CommitFile]:
    """The files of a commit; with `below`, those below the folder `repository` of its checkout, by their names there.

    Raises GitError where an object is missing.
    """
    everything = () if below else ("--full-tree",)
    for line in git(repository, "ls-tree", "-r", "-l", "-z", *everything, commit).split(b"\0"):
        if line:
            about, _, path = line.partition(b"\t")
            mode, _, name, size = about.decode().split()
            yield CommitFile(mode, name, int(size) if size.isdecimal() else 0, path.decode("utf-8", "surrogateescape"))


def contents(repository: Path, files: Sequence[CommitFile]) -> Iterator[tuple[CommitFile, bytes]]:
    """Each file with its bytes; one process reads them all. Raises GitError where an object is missing."""
    names = "".join(f"{file.name}\n" for file in files).encode()
    with open_git(repository, "cat-file", "--batch", given=names) as answers:
        for file in files:
            about = answers.readline().split()  # ends in the size; the bytes and a line end follow
            if len(about) != 3:
                raise GitError(f"{file.path} is missing; fetch it")
            yield file, answers.read(int(about[2]))
            answers.read(1)


def write_file(folder: Path, file: CommitFile, content: bytes) -> None:
    """Write one file below `folder`, a link as a link. Raises GitError for a path that leads out of it: git refuses
    such a tree, but whoever made the pack need not have asked git."""
    if {"..", ".", "", ".git"} & set(file.path.split("/")) or PurePosixPath(file.path).is_absolute():
        raise GitError(f"{file.path} is outside of its own tree")
    place = folder / file.path
    place.parent.mkdir(parents=True, exist_ok=True)
    if file.mode == _LINK:
        place.symlink_to(content.decode("utf-8", "surrogateescape"))
    else:
        place.write_bytes(content)


def write_commit(repository: Path, commit: str, folder: Path) -> None:
    """Write all files of a commit below `folder`. Submodules are left out; a file that git-lfs keeps elsewhere is the
    pointer that git has. Raises GitError."""
    files = [file for file in commit_files(repository, commit) if not file.is_submodule]
    for file, content in contents(repository, files):
        write_file(folder, file, content)

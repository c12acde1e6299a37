"""The commits that imported cases are about, kept below `.cache` in one bare repository that nobody else knows.

A commit is taken out of a clone once, with its tree and without its history; objects that are here already are not
copied again, so a hundred commits of one project take little more room than one. From then on the clone may move or go.
Whatever is kept follows from the commit's hash, so nothing of the machine it came from can be seen in it.
"""

import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Final, NamedTuple

from evals.dataset.clone import Clone
from evals.dataset.git import GitError, environment, git, git_words
from evals.dataset.importers.diff import is_test
from evals.errors import ConfigurationError

FOLDER: Final = "commits.git"
POINTER: Final = b"version https://git-lfs.github.com/spec/v1\n"
"""How a file begins that stands for one kept by git-lfs."""
_POINTER_BYTES: Final = 1024
_REGULAR: Final = ("100644", "100755", "100664")


class Entry(NamedTuple):
    """A file of a commit: `mode` as git writes it, 160000 for a submodule; `name` is that of its content."""

    mode: str
    name: str
    size: int
    path: str

    @property
    def regular(self) -> bool:
        """Whether it is neither link nor submodule."""
        return self.mode in _REGULAR

    @property
    def wanted(self) -> bool:
        """Whether it is written: no test, and with a name that is text, since any other can stand in no request."""
        return self.regular and not is_test(self.path) and self.path.isprintable()


@dataclass(frozen=True)
class Left:
    """What a commit names and does not hold: paths of submodules, and of files that git-lfs keeps elsewhere."""

    submodules: tuple[str, ...]
    pointers: tuple[str, ...]


@dataclass(frozen=True)
class Commits:
    """The bare repository at `folder`, made when the first commit is taken in."""

    folder: Path

    @classmethod
    def below(cls, cache: Path) -> "Commits":
        """The one of a checkout's cache."""
        return cls(cache / FOLDER)

    def has(self, commit: str) -> bool:
        """Whether the commit was taken in, whole."""
        try:
            git(self.folder, "cat-file", "-e", f"{commit}^{{commit}}")
        except GitError:
            return False
        return True

    def take(self, clone: Clone, commit: str) -> None:
        """Copy a commit and its tree out of a clone. They are here together or not at all.

        Raises:
            GitError: the clone lacks some of it, as a partial one does.
            ConfigurationError: nothing can be kept here.
        """
        self._make()
        needed = git(clone.folder, "rev-list", "--objects", "--no-object-names", "--no-walk", commit)
        lacking = self._lacking(needed)
        if lacking:
            pack = git(clone.folder, "pack-objects", "--stdout", "-q", given=lacking)
            try:
                git(self.folder, "index-pack", "--stdin", given=pack)
            except GitError as error:
                raise ConfigurationError(f"{self.folder}: cannot keep a commit's code: {error}") from error

    def _make(self) -> None:
        if (self.folder / "HEAD").is_file():
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            git(self.folder, "init", "--quiet", "--bare", "--object-format=sha1", ".")
        except (OSError, GitError) as error:
            raise ConfigurationError(f"{self.folder}: cannot keep a commit's code: {error}") from error

    def write(self, commit: str, folder: Path) -> None:
        """Every file of a commit that can be read or searched, byte for byte, below `folder`.

        Left out are tests (told by their names, by the very rule that leaves them out of the gold), links, submodules,
        pointers to what git-lfs keeps elsewhere, and files whose names are no text. Raises GitError where an object is
        missing.
        """
        wanted = [entry for entry in self._entries(commit) if entry.wanted]
        for path, content in self._contents(wanted):
            if not _is_pointer(content):
                _put(folder, path, content)

    def left_out(self, commit: str) -> Left:
        """What cannot be had of a commit. Raises GitError where an object is missing."""
        entries = list(self._entries(commit))
        small = [entry for entry in entries if entry.regular and entry.size < _POINTER_BYTES]
        return Left(
            submodules=tuple(entry.path for entry in entries if entry.mode == "160000"),
            pointers=tuple(path for path, content in self._contents(small) if _is_pointer(content)),
        )

    def _entries(self, commit: str) -> Iterator[Entry]:
        for line in git(self.folder, "ls-tree", "-r", "-l", "-z", "--full-tree", commit).split(b"\0"):
            if line:
                about, _, path = line.partition(b"\t")
                mode, _, name, size = about.decode().split()
                yield Entry(mode, name, int(size) if size.isdecimal() else 0, path.decode("utf-8", "surrogateescape"))

    def _contents(self, entries: list[Entry]) -> Iterator[tuple[str, bytes]]:
        """Each file's path and bytes, one process for all: the names go in by a file, so that neither pipe fills up."""
        with tempfile.TemporaryFile() as names:
            names.write("".join(f"{entry.name}\n" for entry in entries).encode())
            names.seek(0)
            command = git_words(self.folder, "cat-file", "--batch")
            with subprocess.Popen(  # noqa: S603 - no shell, a fixed command
                command, stdin=names, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment()
            ) as asked:
                assert asked.stdout is not None  # noqa: S101 - it is a pipe
                for entry in entries:
                    yield entry.path, _next_blob(asked.stdout, entry)

    def _lacking(self, names: bytes) -> bytes:
        told = git(self.folder, "cat-file", "--batch-check=%(objectname)", given=names)
        return b"".join(line.split()[0] + b"\n" for line in told.splitlines() if line.endswith(b" missing"))


def _next_blob(answers: IO[bytes], entry: Entry) -> bytes:
    """The next answer of `cat-file --batch`: a line that ends in the size, the bytes, a line end."""
    about = answers.readline().split()
    if len(about) != 3:
        raise GitError(f"{entry.path} is missing")
    content = answers.read(int(about[2]))
    answers.read(1)
    return content


def _is_pointer(content: bytes) -> bool:
    return len(content) < _POINTER_BYTES and content.startswith(POINTER)


def _put(folder: Path, path: str, content: bytes) -> None:
    """Write one file. git itself refuses `..` in a tree, but whoever made the pack need not have asked it."""
    if {"..", ".", "", ".git"} & set(path.split("/")) or PurePosixPath(path).is_absolute():
        raise GitError("names a file outside of its own tree")
    place = folder / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)

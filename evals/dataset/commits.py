"""The commits that imported cases are about, kept below `.cache` in one bare repository that nobody else knows.

A commit is taken out of a clone once, with its tree and without its history; objects that are here already are not
copied again, so a hundred commits of one project take little more room than one. From then on the clone may move or go.
Whatever is kept follows from the commit's hash, so nothing of the machine it came from can be seen in it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Final, NamedTuple

from evals.dataset.clone import Clone
from evals.dataset.git import GitError, git, git_stream
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
        write_files(self.folder, [entry for entry in entries(self.folder, commit) if entry.wanted], folder)

    def left_out(self, commit: str) -> Left:
        """What cannot be had of a commit. Raises GitError where an object is missing."""
        found = list(entries(self.folder, commit))
        small = [entry for entry in found if entry.regular and entry.size < _POINTER_BYTES]
        return Left(
            submodules=tuple(entry.path for entry in found if entry.mode == "160000"),
            pointers=tuple(path for path, content in _contents(self.folder, small) if _is_pointer(content)),
        )

    def _lacking(self, names: bytes) -> bytes:
        told = git(self.folder, "cat-file", "--batch-check=%(objectname)", given=names)
        return b"".join(line.split()[0] + b"\n" for line in told.splitlines() if line.endswith(b" missing"))


def entries(repository: Path, commit: str, *, below: bool = False) -> Iterator[Entry]:
    """The files of a commit; with `below`, those below the folder `repository` of its checkout, by their names there.

    Raises GitError where an object is missing.
    """
    everything = () if below else ("--full-tree",)
    for line in git(repository, "ls-tree", "-r", "-l", "-z", *everything, commit).split(b"\0"):
        if line:
            about, _, path = line.partition(b"\t")
            mode, _, name, size = about.decode().split()
            yield Entry(mode, name, int(size) if size.isdecimal() else 0, path.decode("utf-8", "surrogateescape"))


def write_files(repository: Path, wanted: Sequence[Entry], folder: Path) -> None:
    """Write files of a commit below `folder`, byte for byte as they were committed: no filter is run. Pointers to what
    git-lfs keeps elsewhere are left out. Raises GitError where an object is missing."""
    for path, content in _contents(repository, wanted):
        if not _is_pointer(content):
            _put(folder, path, content)


def _contents(repository: Path, wanted: Sequence[Entry]) -> Iterator[tuple[str, bytes]]:
    """Each file's path and bytes, one process for all."""
    names = "".join(f"{entry.name}\n" for entry in wanted).encode()
    with git_stream(repository, "cat-file", "--batch", given=names) as answers:
        for entry in wanted:
            yield entry.path, _next_blob(answers, entry)


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

"""Files of a git commit, as they were committed: no filter, hook or attribute of the repository is run."""

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

from evals.shared.git_command import GitError, git, open_git

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

"""Files of a git commit, written byte for byte: no filter, hook or attribute of the repository is run."""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Final

from evals.shared.git_command import GitError, git, open_git

_LINK: Final = b"120000"
_SUBMODULE: Final = b"160000"


def write_commit(repository: Path, commit: str, folder: Path) -> None:
    """Write all files of a commit below `folder`, links as links. Submodules are left out; a file that git-lfs keeps
    elsewhere is the pointer that git has. Raises GitError."""
    listed = list(_listed(repository, commit))
    names = b"".join(name + b"\n" for _, name, _ in listed)
    with open_git(repository, "cat-file", "--batch", given=names) as answers:
        for mode, _, path in listed:
            content = _next_blob(answers)
            place = folder / path
            if {"..", ".", "", ".git"} & set(path.split("/")) or PurePosixPath(path).is_absolute():
                raise GitError(f"{path} is outside of its own tree")
            place.parent.mkdir(parents=True, exist_ok=True)
            if mode == _LINK:
                place.symlink_to(content.decode("utf-8", "surrogateescape"))
            else:
                place.write_bytes(content)


def _listed(repository: Path, commit: str) -> Iterator[tuple[bytes, bytes, str]]:
    """Mode, name of the content, and path of each file."""
    for line in git(repository, "ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0"):
        about, _, path = line.partition(b"\t")
        if about and not about.startswith(_SUBMODULE):
            mode, _, name = about.split()
            yield mode, name, path.decode("utf-8", "surrogateescape")


def _next_blob(answers: IO[bytes]) -> bytes:
    about = answers.readline().split()
    if len(about) != 3:
        raise GitError("git lacks a file of the commit; fetch it")
    content = answers.read(int(about[2]))
    answers.read(1)
    return content

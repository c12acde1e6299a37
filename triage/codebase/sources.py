"""What a search covers: one checkout or several, each as a whole or some of its folders.

Paths of files are relative to the checkout. With several checkouts they begin with the checkout's name.
"""

import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from triage.background_work import Told, untold
from triage.codebase.source_files import survey
from triage.errors import InputError


@dataclass(frozen=True)
class Source:
    """The folder `folder` of the checkout at `root`; all of it where that is empty. `name` begins the paths of its
    files; it is empty where there is one checkout."""

    root: Path
    name: str = ""
    folder: str = ""

    @property
    def place(self) -> Path:
        """The folder that is read."""
        return self.root / self.folder

    @property
    def prefix(self) -> str:
        """What stands before a path relative to `place`; empty, or it ends with a slash."""
        return "".join(f"{part}/" for part in (self.name, self.folder) if part)


def sources_of(repos: Sequence[Path], paths: Sequence[str] = (), *, checked: bool = True) -> tuple[Source, ...]:
    """The sources that `--repo` and `--path` name. With several checkouts a path is `NAME:FOLDER`; a checkout without a
    path is searched as a whole. The folders have to be there if they are to be `checked`.

    Raises:
        InputError: no such folder, one outside of its checkout, a link, or two checkouts of one name.
    """
    names = _names(repos)
    folders: dict[int, list[str]] = {n: [] for n in range(len(repos))}
    for path in paths:
        number, folder = (0, path) if len(repos) == 1 else _of_named(path, names)
        folders[number].append(_normalised(repos[number], folder, path))
        if checked and repos[number].is_dir():  # a checkout that is not there is another error
            _check_folder(repos[number], folders[number][-1], path)
    return tuple(
        Source(repo, names[n] if len(repos) > 1 else "", folder)
        for n, repo in enumerate(repos)
        for folder in (dict.fromkeys(folders[n]) or [""])
    )


def repository_name(repos: Sequence[Path]) -> str:
    """What agents call the code: the checkout's name, or the names of all."""
    return ", ".join(repo.name for repo in repos)


def read_sources(sources: Sequence[Source], told: Told = untold) -> tuple[Mapping[str, str], str]:
    """The texts of all sources by path, and what is searched and left out of each, in words.

    Raises InputError where a checkout is not there, or a source has nothing to read.
    """
    texts: dict[str, str] = {}
    said = []
    for source in sources:
        if not source.root.is_dir():
            raise InputError(f"{source.root}: no such folder; give the checkout of the repository")
        found = survey(source.place, told)
        if not found.texts:
            raise InputError(
                f"{source.place}: there is no text file to search in; give another folder, or leave it out"
            )
        texts |= {source.prefix + path: text for path, text in found.texts.items()}
        said.append(f"{source.place}: {len(found.texts):,} files; left out: {found.omitted()}")
    return texts, "; ".join(said)


def _names(repos: Sequence[Path]) -> list[str]:
    """The name of each checkout. Raises InputError where two have one name, which may differ in case only."""
    seen: dict[str, Path] = {}
    for repo in repos if len(repos) > 1 else ():
        other = seen.setdefault(repo.name.casefold(), repo)
        if other is not repo:
            raise InputError(
                f"--repo {other} and --repo {repo} have one name: paths could not tell them apart; rename one"
            )
        if not repo.name or not repo.name.isprintable():
            raise InputError(f"--repo {repo}: its name cannot begin a path; rename the folder")
    return [repo.name for repo in repos]


def _of_named(path: str, names: Sequence[str]) -> tuple[int, str]:
    """The number of the checkout in `NAME:FOLDER`, and the folder."""
    for number, name in enumerate(names):
        if path.startswith(f"{name}:"):
            return number, path.removeprefix(f"{name}:")
    raise InputError(f"--path {path}: with several checkouts write NAME:FOLDER; NAME is one of {', '.join(names)}")


def _normalised(root: Path, folder: str, given: str) -> str:
    """The folder below `root`, with forward slashes and without `.`; empty for the checkout itself."""
    path = PurePosixPath(folder)
    if path.is_absolute() or {"..", ".git"} & {*path.parts}:
        raise InputError(f"--path {given}: is outside the repository; give a folder relative to {root}")
    if not folder.isprintable():
        raise InputError(f"--path {given!r}: cannot stand in a path of a finding; rename the folder")
    return "/".join(path.parts)


def _check_folder(root: Path, folder: str, given: str) -> None:
    place = root
    for part in PurePosixPath(folder).parts:
        place /= part
        try:
            kind = place.lstat().st_mode
        except OSError as error:
            raise InputError(f"--path {given}: does not exist; give a folder relative to {root}") from error
        if stat.S_ISLNK(kind):
            raise InputError(f"--path {given}: {place} is a link; give the folder that it leads to")
        if not stat.S_ISDIR(kind):
            raise InputError(f"--path {given}: is not a folder; give the folder that holds it")

"""Text files that a search covers: of one checkout or several, each as a whole or some of its folders.

Paths of files are relative to the checkout. With several checkouts they begin with the checkout's name.
"""

import os
import stat
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path, PurePosixPath
from typing import Final

from evals.shared.git_command import GitError, NoGitError, git
from triage.errors import InputError
from triage.run_in_thread import Told, untold

MAX_FILES: Final = 100_000
"""The Linux kernel has 85,000."""
MAX_DEPTH: Final = 64
"""Folders above a file, the file included; the deepest trees that people write have 20 or so."""
MAX_REPOSITORIES: Final = 1_000
"""Repositories inside of the repository; each takes two calls of git."""
_MAX_LISTING: Final = 100_000_000
"""Bytes of names: 1,000 for each file that may be read."""
_TIMEOUT_S: Final = 60.0
_NOT_IGNORED: Final = 1
"""The exit code of `git check-ignore`."""
_SUBMODULE: Final = b"160000 "
_MAX_POINTER: Final = 4_096
"""Bytes of a `.git` file, which holds one path."""


@dataclass
class Listing:
    """The `files` of a checkout by name, and whether git tracks each; `links`, `unreadable` and `beyond` (the limits)
    count files and folders that are left out. `fault` is git's reason where it gave no listing at all."""

    files: dict[str, bool] = field(default_factory=dict)
    links: int = 0
    unreadable: int = 0
    beyond: int = 0
    fault: str = ""


def listed(root: Path) -> Listing | None:
    """The files below `root` that git tracks or does not ignore, submodules included.

    None if there is no git, no repository, or one that ignores this whole folder, as with installed libraries. A
    listing with a `fault` has no files: there is a repository, and git does not read it.
    """
    try:
        return _Lister(root).all()
    except (NoGitError, NoRepositoryError):
        return None
    except GitError as error:
        return Listing(fault=str(error))


class NoRepositoryError(Exception):
    """There is no repository, or it ignores the folder."""


class _Lister:
    """Fills a `Listing`, repository by repository."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._folders: dict[str, bool] = {"": True}
        self._repositories = 0
        self._found = Listing()

    def all(self) -> Listing:
        """Raises NoRepositoryError, GitError."""
        self._add("")
        return self._found

    def _add(self, prefix: str) -> None:
        """Add what the repository at `prefix` (empty, or ending in a slash) holds."""
        folder = self._root / prefix
        for line in filter(None, _names(folder).split(b"\0")):
            name, tracked = prefix + os.fsdecode(line[2:]).rstrip("/"), not line.startswith(b"?")
            if name.count("/") >= MAX_DEPTH or len(self._found.files) >= MAX_FILES:
                self._found.beyond += 1
            elif not self.is_inside(name):
                self._found.links += 1
            else:
                self._add_one(name, tracked=tracked)

    def _add_one(self, name: str, *, tracked: bool) -> None:
        mode = _mode(self._root / name)
        if not stat.S_ISDIR(mode):
            if mode:  # else deleted, and the deletion is not committed yet
                self._found.files[name] = tracked
        elif _mode(self._root / name / ".git"):  # a repository of its own: git says no more than its name
            self._add_repository(name)
        else:
            self._found.unreadable += 1

    def _add_repository(self, name: str) -> None:
        if not owns_repository(self._root, name):
            self._found.links += 1
        elif self._repositories >= MAX_REPOSITORIES:
            self._found.beyond += 1
        else:
            self._repositories += 1
            try:
                self._add(f"{name}/")
            except (GitError, NoRepositoryError):
                self._found.unreadable += 1

    def is_inside(self, name: str) -> bool:
        """Whether every folder above the file is a real one below the root."""
        *folders, last = name.split("/")
        if {"", ".", "..", ".git"} & {*folders, last}:  # no honest index holds such a name
            return False
        return self._is_real("/".join(folders))

    def _is_real(self, folder: str) -> bool:
        if folder not in self._folders:
            above = folder.rpartition("/")[0]
            self._folders[folder] = self._is_real(above) and not stat.S_ISLNK(_mode(self._root / folder))
        return self._folders[folder]


def submodules(root: Path) -> list[str]:
    """The checked out submodules of the repository at `root`, below that folder, by name. Raises GitError."""
    entries = git(root, "ls-files", "-z", "--stage", timeout_s=_TIMEOUT_S, max_bytes=_MAX_LISTING).split(b"\0")
    names = [os.fsdecode(entry.partition(b"\t")[2]) for entry in entries if entry.startswith(_SUBMODULE)]
    lister = _Lister(root)
    near = (name for name in names if name.count("/") < MAX_DEPTH)
    inside = [name for name in near if lister.is_inside(name) and stat.S_ISDIR(_mode(root / name))]
    return [name for name in inside if _mode(root / name / ".git") and owns_repository(root, name)][:MAX_REPOSITORIES]


def owns_repository(root: Path, name: str) -> bool:
    """Whether the repository in folder `name` of a checkout is kept in the checkout: in the folder itself, or, for a
    submodule, in the repository around it. A `.git` that is a link or points elsewhere is another project's."""
    place = root / name / ".git"
    mode = _mode(place)
    if stat.S_ISDIR(mode):
        return True
    if not stat.S_ISREG(mode):
        return False
    try:
        with place.open("rb") as file:
            pointer = os.fsdecode(file.read(_MAX_POINTER)).strip()
        target = (root / name / pointer.removeprefix("gitdir:").strip()).resolve()
        common = git(root, "rev-parse", "--git-common-dir", timeout_s=_TIMEOUT_S)
    except (OSError, ValueError, GitError):
        return False
    homes = (root.resolve(), (root / os.fsdecode(common).removesuffix("\n")).resolve())
    return pointer.startswith("gitdir:") and any(target.is_relative_to(home) for home in homes)


def _names(folder: Path) -> bytes:
    """Raises NoRepositoryError, GitError."""
    try:
        git(folder, "check-ignore", "--quiet", str(folder.resolve()), timeout_s=_TIMEOUT_S)
    except GitError as error:
        if "not a git repository" in error.said:
            raise NoRepositoryError from error
        if error.code != _NOT_IGNORED:
            raise
    else:
        raise NoRepositoryError
    words = ("ls-files", "-z", "-t", "--cached", "--others", "--exclude-standard")
    return git(folder, *words, timeout_s=_TIMEOUT_S, max_bytes=_MAX_LISTING)


def _mode(path: Path) -> int:
    """What kind of file it is, links not followed; 0 where there is none."""
    try:
        return path.lstat().st_mode
    except (OSError, ValueError):
        return 0


MAX_TEXT_BYTES: Final = 1_000_000_000
"""All texts together, which are held in memory; of the Linux kernel it is as much."""
MAX_FILE_BYTES: Final = 500_000
"""Larger files are data, not source."""
MAX_MARKUP_CHARS: Final = 50_000
"""Longer files of a format that holds settings as well as data are data: fixtures, recordings, generated tables."""
MARKUP: Final = frozenset({".json", ".yaml", ".yml", ".xml", ".html", ".txt"})
NOT_CODE: Final = frozenset({".csv", ".tsv", ".jsonl", ".ndjson", ".svg", ".lock", ".map", ".ipynb", ".po", ".log"})
SKIPPED: Final = frozenset({"__pycache__", "node_modules", "venv", "build", "dist", "site-packages"})


class Why(Enum):
    """Why a file, or a folder with all that is in it, is left out."""

    BINARY = "binary"
    BIG = "too big"
    NOT_CODE = "not code"
    HIDDEN = "hidden"
    GENERATED = "installed or generated"
    LINK = "links"
    UNREADABLE = "unreadable"
    BEYOND = f"beyond the limits of {MAX_FILES:,} files, {MAX_TEXT_BYTES // 10**6:,} MB and {MAX_DEPTH} folders deep"


@dataclass(frozen=True)
class Survey:
    """The texts of a checkout by path (relative, forward slashes), and how many files or folders are left out."""

    texts: Mapping[str, str]
    left_out: Mapping[Why, int]
    by_git: bool
    """Whether git said which files belong to the checkout; what it ignores is in no count."""
    fault: str = ""
    """Why git did not say so, though there is a repository."""

    def omitted(self) -> str:
        """What is left out, and how much of it."""
        ignored = ["what git ignores"] if self.by_git else []
        counts = [f"{self.left_out[why]:,} {why.value}" for why in Why if why in self.left_out]
        searched = f"; what git ignores is searched as well: {self.fault}" if self.fault else ""
        return f"{', '.join(ignored + counts) or 'nothing'}{searched}"


def source_files(root: Path) -> Iterator[tuple[str, str]]:
    """(path relative to `root`, text) of every text file, by path; hidden, generated and binary files are left out.

    Raises InputError where there are more files, or deeper ones, than a checkout may have.
    """
    left_out: Counter[Why] = Counter()
    room = MAX_TEXT_BYTES
    for name in _walked(root, left_out):
        text = _text_of(root, name)
        if isinstance(text, str):
            room -= len(text)
            yield name, text
        if left_out[Why.BEYOND] or room < 0:
            raise InputError(f"{root}: holds files {Why.BEYOND.value}; name a smaller folder")


def survey(root: Path, told: Told = untold, *, committed: bool = False) -> Survey:
    """What is to be searched in the checkout at `root`: the files that git knows or does not ignore, and where git
    cannot tell, all but hidden and generated ones. A file that cannot be read costs itself alone.

    A folder that is `committed` holds what a commit holds and nothing else: there, no name makes a file generated.
    """
    left_out: Counter[Why] = Counter()
    by_git = None if committed else listed(root)
    fault = by_git.fault if by_git else ""
    if by_git is None or fault:
        by_git, names = None, _walked(root, left_out, tracked=committed)
    else:
        names = _wanted(by_git, left_out)
    texts: dict[str, str] = {}
    room = MAX_TEXT_BYTES
    for n, name in enumerate(names):
        told("reading files", n, len(names))
        text = _code_of(root, name) if room > 0 else Why.BEYOND
        if isinstance(text, Why):
            left_out[text] += 1
        else:
            texts[name] = text
            room -= len(text)
    return Survey(texts, left_out, by_git is not None, fault)


def _walked(root: Path, left_out: Counter[Why], *, tracked: bool = False) -> list[str]:
    """The files below `root` by name; hidden and generated ones, linked ones, and folders of them, are only counted.
    The walk ends at the first file beyond the limits."""
    names: list[str] = []
    for place, folders, files in os.walk(root):
        entries = {name: _why_by_name(name, tracked=tracked) for name in (*folders, *files)}
        entries |= {name: Why.LINK for name in folders if not entries[name] and Path(place, name).is_symlink()}
        left_out.update(why for why in entries.values() if why)
        folders[:] = sorted(name for name in folders if not entries[name])
        names += [Path(place, name).relative_to(root).as_posix() for name in sorted(files) if not entries[name]]
        if folders and len(Path(place).relative_to(root).parts) + 1 >= MAX_DEPTH:
            left_out[Why.BEYOND] += len(folders)
            folders.clear()
        if len(names) > MAX_FILES:
            left_out[Why.BEYOND] += len(names) - MAX_FILES + len(folders)
            return sorted(names[:MAX_FILES])
    return sorted(names)


def _wanted(by_git: Listing, left_out: Counter[Why]) -> list[str]:
    """What git names, without what is hidden; what it does not track may be generated."""
    reasons = {name: _why_by_name(*name.split("/"), tracked=tracked) for name, tracked in by_git.files.items()}
    left_out.update(why for why in reasons.values() if why)
    counts = {Why.LINK: by_git.links, Why.UNREADABLE: by_git.unreadable, Why.BEYOND: by_git.beyond}
    left_out.update({why: count for why, count in counts.items() if count})
    return sorted(name for name, why in reasons.items() if not why)


def _why_by_name(*parts: str, tracked: bool = False) -> Why | None:
    if any(part.startswith(".") for part in parts):
        return Why.HIDDEN
    if not tracked and any(part in SKIPPED or part.endswith(".egg-info") for part in parts):
        return Why.GENERATED
    return None


def _code_of(root: Path, name: str) -> str | Why:
    """The text of a file that is not data."""
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in NOT_CODE:
        return Why.NOT_CODE
    try:
        name.encode()  # a name that is no text can stand in no request
        text = _text_of(root, name)
    except (OSError, UnicodeEncodeError):
        return Why.UNREADABLE
    too_big = suffix in MARKUP and len(text) > MAX_MARKUP_CHARS if isinstance(text, str) else False
    return Why.BIG if too_big else text


def _text_of(root: Path, name: str) -> str | Why:
    """Raises OSError where a file cannot be read."""
    path = root / name
    if path.is_symlink():
        return Why.LINK
    if not path.is_file():
        return Why.UNREADABLE
    if path.stat().st_size > MAX_FILE_BYTES:
        return Why.BIG
    with path.open("rb") as file:
        raw = file.read(MAX_FILE_BYTES + 1)  # a file of some file systems says that it is empty, and never ends
    if len(raw) > MAX_FILE_BYTES:
        return Why.BIG
    try:
        return Why.BINARY if b"\0" in raw else raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return Why.BINARY


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
    names = _source_names(repos)
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


def _source_names(repos: Sequence[Path]) -> list[str]:
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

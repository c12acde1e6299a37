"""Lint complaints, and what checks are given to look at."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from evals.errors import DatasetError
from evals.models.case import Case
from evals.triage.dataset.case_code import (
    ABOUT,
    Codebase,
    build_tree,
    commit_tree,
    load_codebase,
    released_tree,
    tree_digest,
)
from evals.triage.dataset.dataset_layout import Layout
from evals.triage.dataset.package_store import Release, Shelf

Edges = frozenset[tuple[str, str]]
StateValidator = Callable[[Mapping[str, Any]], str | None]


@dataclass(frozen=True)
class LintFinding:
    """One thing that is wrong. `line` is 1 where no single line is to blame."""

    case: str
    check: str
    message: str
    path: str
    line: int = 1

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.case}: {self.check}: {self.message}"

    def __lt__(self, other: "LintFinding") -> bool:
        """Sorted as they are printed: by file, then by line."""
        return self._place < other._place

    @property
    def _place(self) -> tuple[str, int, str, str, str]:
        return self.path, self.line, self.case, self.check, self.message


class Complaint(NamedTuple):
    """What a check says; the runner adds which check it was. `case` is set by checks that see all cases."""

    message: str
    path: Path
    line: int = 1
    case: str = ""


@dataclass(frozen=True)
class LintedCase:
    """One case, with the trees it is about."""

    case: Case
    layout: Layout
    cache: Path

    @property
    def id(self) -> str:
        """The case's name."""
        return self.case.id

    @property
    def labels_path(self) -> Path:
        """Its case.yaml."""
        return self.layout.labels(self.id)

    @property
    def patch(self) -> Path | None:
        """Its bug.patch, if it has one."""
        path = self.layout.patch(self.id)
        return path if path.exists() else None

    @property
    def repro(self) -> Path | None:
        """Its repro.py, if it has one."""
        path = self.layout.repro(self.id)
        return path if path.exists() else None

    @property
    def files(self) -> list[Path]:
        """Everything in its folder, sorted; bytecode left out."""
        found = (path for path in self.labels_path.parent.rglob("*") if path.is_file())
        return sorted(path for path in found if "__pycache__" not in path.parts)

    @property
    def imported(self) -> bool:
        """Whether its labels are its source's, made by rule: there is nothing to prove, and nobody to mend them."""
        return self.case.labels.codebase is None and not self.from_git

    @property
    def was_a_job(self) -> bool:
        """Whether it was a live job: its code is here, and its labels are a person's word."""
        return self.case.labels.codebase is not None and not self.case.labels.ours

    @property
    def from_git(self) -> bool:
        """Whether it is a fixed bug of somebody's history: gold is read off the fix, the rest is a person's word."""
        origin = self.case.labels.origin
        return origin is not None and origin.source == "git"

    @property
    def released(self) -> bool:
        """Whether its code is a released package, so that two releases prove its labels."""
        return self.case.tree is not None

    @cached_property
    def fetched(self) -> bool:
        """Whether all releases that a proof of it takes are here, and whole."""
        return not Shelf(self.cache).missing(self.releases)

    @property
    def runs_here(self) -> bool:
        """Whether a released package can be run on this Python, to prove what is said of it."""
        return load_codebase(self.codebase).runs_here

    @property
    def releases(self) -> tuple[Release, ...]:
        """The releases that a proof of it takes."""
        if not self.released:
            return ()
        releases = load_codebase(self.codebase).releases
        fixed = self.case.labels.fixed
        return (*releases, *((fixed.release_of(releases[0].package),) if fixed else ()))

    @property
    def codebase(self) -> Path:
        """The folder of its codebase. Raises DatasetError for an imported case."""
        name = self.case.labels.codebase
        if name is None:
            raise DatasetError(f"{self.labels_path}: is imported; there is no code here to prove it with")
        return self.layout.codebase(name)

    @cached_property
    def clean(self) -> Path:
        """The code without the bug; of a released package the files that are searched. Raises DatasetError,
        NotFetchedError."""
        if self.released:
            return released_tree(load_codebase(self.codebase), self.cache)
        if self.case.labels.commits:
            return commit_tree(*self._commits[-1], self.cache)
        return build_tree(self.codebase, None, self.cache)

    @cached_property
    def patched(self) -> Path:
        """The code with the bug. Raises DatasetError if the patch does not apply."""
        if self.released:
            return self.clean
        if self.case.labels.commits:
            return commit_tree(*self._commits[0], self.cache)
        return build_tree(self.codebase, self.patch, self.cache)

    @property
    def _commits(self) -> tuple[tuple[str, str], ...]:
        found: tuple[tuple[str, str], ...] = self.case.labels.commits
        return found

    @property
    def rests_on(self) -> list[bytes]:
        """Everything that can change what is found in the case; its files also for their line numbers."""
        files = (part for path in self.files for part in (path.name.encode(), path.read_bytes()))
        released = [f"fetched {self.fetched}, runs {self.runs_here}".encode()] if self.released else []
        return [b"case", self.case.digest.encode(), *files, *released]

    @property
    def root(self) -> Path:
        """The dataset's folder."""
        return self.layout.root


@dataclass(frozen=True)
class Package:
    """One codebase of the dataset."""

    id: str
    folder: Path
    cache: Path

    @property
    def ours(self) -> bool:
        """Whether it keeps the rules of our codebases; a live job's checkout is somebody's project as it stood."""
        try:
            return load_codebase(self.folder).ours
        except DatasetError:
            return True  # and its description is the first thing to be complained of

    @property
    def released(self) -> Codebase | None:
        """What its description says, where that names a released package."""
        try:
            code = load_codebase(self.folder)
        except DatasetError:
            return None
        return code if code.source else None

    @property
    def sources(self) -> Path:
        """The importable package, which has the name of the codebase."""
        return self.folder / self.id

    @property
    def root(self) -> Path:
        """The dataset's folder."""
        return self.folder.parent.parent

    @cached_property
    def clean(self) -> Path:
        """A tree of it to run things in. Raises DatasetError."""
        return build_tree(self.folder, None, self.cache)

    @property
    def rests_on(self) -> list[bytes]:
        """Everything that can change what is found in the codebase."""
        about = self.folder / ABOUT
        described = about.read_bytes() if about.exists() else b"(none)"
        code = self.released
        missing = [release.name.encode() for release in Shelf(self.cache).missing(code.releases)] if code else []
        return [b"codebase", self.id.encode(), tree_digest(self.folder).encode(), described, *missing]


@dataclass(frozen=True)
class Surroundings:
    """What the dataset cannot know by itself; a check that lacks its part does not run.

    `edges` are the steps the compiled graph allows between workers, the supervisor in between left out, with `start`
    and `end` as the two ends. `validate_state` takes all fields of a decision point's state, the issue's included, and
    returns what is wrong with them or None. `prompts` is the folder of prompt templates.
    """

    prompts: Path | None = None
    validate_state: StateValidator | None = None
    edges: Edges | None = None


@dataclass(frozen=True)
class Corpus:
    """All cases that could be loaded, and their surroundings. `cache` keeps what is slow to compute."""

    cases: Mapping[str, Case]
    layout: Layout
    surroundings: Surroundings
    cache: Path

    def own(self, *, released: bool | None = None) -> "Corpus":
        """The same without imported cases, and those that were live jobs; with `released` only those whose code is (or
        is not) a released package."""
        wanted = {None: {True, False}, True: {True}, False: {False}}[released]
        own = {name: case for name, case in self.cases.items() if case.labels.ours and bool(case.tree) in wanted}
        return Corpus(own, self.layout, self.surroundings, self.cache)


CaseCheck = Callable[[LintedCase], Iterable[Complaint]]
CodebaseCheck = Callable[[Package], Iterable[Complaint]]
CorpusCheck = Callable[[Corpus], Iterable[Complaint]]

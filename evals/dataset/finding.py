"""What lint finds, and what its checks are given to look at."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from evals.dataset.codebase import build_tree
from evals.dataset.layout import Layout
from evals.models.case import Case

Edges = frozenset[tuple[str, str]]
StateValidator = Callable[[Mapping[str, Any]], str | None]


@dataclass(frozen=True, order=True)
class LintFinding:
    """One thing that is wrong. `line` is 1 where no single line is to blame."""

    case: str
    check: str
    message: str
    path: str
    line: int = 1

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.case}: {self.check}: {self.message}"


class Complaint(NamedTuple):
    """What a check says; the runner adds which check it was. `case` is set by checks that see all cases."""

    message: str
    path: Path
    line: int = 1
    case: str = ""


@dataclass(frozen=True)
class Subject:
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

    @cached_property
    def clean(self) -> Path:
        """The codebase without the bug. Raises DatasetError."""
        return build_tree(self.layout.codebase(self.case.labels.codebase), None, self.cache)

    @cached_property
    def patched(self) -> Path:
        """The codebase with the bug. Raises DatasetError if the patch does not apply."""
        return build_tree(self.layout.codebase(self.case.labels.codebase), self.patch, self.cache)


@dataclass(frozen=True)
class Surroundings:
    """What the dataset cannot know by itself; a check that lacks its part does not run, and lint says so.

    `edges` are the steps the compiled graph allows between workers, the supervisor in between left out, with `start`
    and `end` as the two ends. `validate_state` takes all fields of a decision point's state, the issue's included, and
    returns what is wrong with them or None. `prompts` is the folder of prompt templates.
    """

    prompts: Path | None = None
    validate_state: StateValidator | None = None
    edges: Edges | None = None


@dataclass(frozen=True)
class Corpus:
    """All cases that could be loaded, and their surroundings."""

    cases: Mapping[str, Case]
    layout: Layout
    surroundings: Surroundings


CaseCheck = Callable[[Subject], Iterable[Complaint]]
CorpusCheck = Callable[[Corpus], Iterable[Complaint]]

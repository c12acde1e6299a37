"""Layout of a dataset: its paths, the labels in `case.yaml`, and whether a built folder is complete."""

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, model_validator

from evals.content_cache import Kept, digest_of
from evals.models.base import Closed
from evals.models.case import DecisionPoint, Question, RouteLabel, RouteNode, Split
from evals.package_digests import package_digest
from evals.paths import PACKAGE
from evals.source_loader import digest_of_code
from evals.triage.dataset.package_store import ReleaseFix


@dataclass(frozen=True)
class Layout:
    """The paths of one dataset."""

    root: Path

    @property
    def policy(self) -> Path:
        """The dataset-wide route policy."""
        return self.root / "triage" / "policy.yaml"

    @property
    def holdout(self) -> Path:
        """The count of looks at the held-out cases."""
        return self.root / "holdout.yaml"

    @property
    def cases(self) -> Path:
        """The folder with one folder per case."""
        return self.root / "triage" / "cases"

    @property
    def codebases(self) -> Path:
        """The folder with one folder per clean package."""
        return self.root / "codebases"

    @property
    def web(self) -> Path:
        """The pages the local search server serves."""
        return self.root / "web"

    def page(self, name: str) -> Path:
        """One page of the offline web."""
        return self.web / f"{name}.md"

    def labels(self, case_id: str) -> Path:
        """The labels of one case."""
        return self.cases / case_id / "case.yaml"

    def issue(self, case_id: str) -> Path:
        """The text of one issue."""
        return self.cases / case_id / "issue.md"

    def patch(self, case_id: str) -> Path:
        """What makes the clean codebase buggy; need not exist."""
        return self.cases / case_id / "bug.patch"

    def repro(self, case_id: str) -> Path:
        """What shows the bug; need not exist."""
        return self.cases / case_id / "repro.py"

    def suite(self, case_id: str) -> Path:
        """The suite that runs a case as its live job ran; need not exist."""
        return self.root / "triage" / "suites" / f"{case_id}.yaml"

    def codebase(self, name: str) -> Path:
        """The clean package."""
        return self.codebases / name


def note(listings: Kept, name: str, folder: Path) -> None:
    """Keep under `name` what the folder holds now."""
    files = (path for path in folder.rglob("*") if path.is_file())
    sizes = {path.relative_to(folder).as_posix(): path.stat().st_size for path in files}
    listings.put(name, json.dumps(sizes, sort_keys=True).encode())


def is_intact(listings: Kept, name: str, folder: Path) -> bool:
    """Whether every noted file is there in its size; False too if nothing readable was noted."""
    try:
        sizes = json.loads(listings.get(name) or b"")
        return folder.is_dir() and all((folder / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError, AttributeError):
        return False


def built_tree(cache: Path, name: str, build: Callable[[Path], None]) -> Path:
    """The folder `name` of code below the cache: as it was built, if every file is there, else `build` makes it now.

    `build` writes to the path it is given, where nothing is yet. The folder appears by one rename, so nobody ever sees
    half of it, and of two builders at once one wins. One that lost files is filled anew.
    """
    target, listings = cache / "codebases" / name, Kept(cache / "codebase-files")
    if not is_intact(listings, name, target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".building-", dir=target.parent) as scratch:
            tree = Path(scratch) / "tree"
            build(tree)
            note(listings, name, tree)
            publish(tree, target)
    return target


def publish(tree: Path, target: Path) -> None:
    """Move a folder that was built to its place; one that is there, of another process or with files lost, is filled.
    Raises OSError."""
    try:
        tree.rename(target)
    except OSError:
        if not target.is_dir():  # not the lost race that is fine, but a full or read-only disk
            raise
        refill(target, tree)


def refill(folder: Path, built: Path) -> None:
    """Move every file of `built` to its place in `folder`. Each comes by one rename, so that readers see it whole."""
    for file in [path for path in built.rglob("*") if path.is_file()]:
        place = folder / file.relative_to(built)
        place.parent.mkdir(parents=True, exist_ok=True)
        file.replace(place)


_LIBRARIES: Final = ("pydantic", "pydantic_core", "yaml", "bm25s")


@cache
def code_digest(*patterns: str) -> bytes:
    """Of the files that match one of the patterns, relative to `evals`. Raises ValueError for a pattern of no file."""
    found = {pattern: sorted(PACKAGE.glob(pattern)) for pattern in patterns}
    for pattern in (pattern for pattern, files in found.items() if not files):
        raise ValueError(f"{pattern}: no such code; correct the pattern")
    return digest_of(*(digest_of_code(file).encode() for files in found.values() for file in files)).encode()


def libraries_digest(cache: Path) -> bytes:
    """Of the installed packages that checks of a dataset use."""
    return package_digest(cache, *_LIBRARIES).encode()


UNLABELLED: Final = "unlabelled:"
"""Begins a tag that names a label its source does not state: what stands there is a default and is never scored."""


Archetype = Literal[
    "local_bug",
    "symptom_only",
    "misleading_trace",
    "third_party",
    "version_or_cryptic_error",
    "environment_ambiguity",
    "insufficient_information",
    "usage_question",
    "feature_request",
    "duplicate",
    "regression",
    "race",
    "security",
    "performance",
    "data_corruption",
    "multi_cause",
    "prompt_injection",
    "huge_log",
    "non_english",
]
Category = Literal["code", "third_party", "environment", "not_a_bug", "feature", "duplicate", "insufficient"]
Severity = Literal["CRITICAL", "HIGH", "MEDIUM", "LOW"]


class Gold(Closed):
    """Where the fault is. Derived from `bug.patch` by AST for code bugs and checked by lint; empty where no
    file of the repository is to blame. Functions are `path::Class` or `path::function` (outermost). `whole_names` are
    what the fix edited under its dotted name (`path::Class.method`), as LocAgent counts; of imported cases only."""

    files: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    whole_names: tuple[str, ...] = ()


class Origin(Closed):
    """Where a case that is not ours comes from: the `name` of its row in the `source` it was read from, or of the live
    job it was; of a case made from `git` it is the commit that mended it. `url` is the issue's own address, as far as
    requests name it."""

    source: Literal["swebench", "locagent", "bugsinpy", "github", "job", "git"]
    name: str
    url: str | None = None


class CaseFile(Closed):
    """`case.yaml`, word for word.

    A case of ours names a `codebase` of the dataset, where its labels are proved; an imported one names the foreign
    `repository` and its `origin`, has no code here but, where a clone was at hand, names the `base_commit` it is taken
    from, and its gold is only what its source says. One made from `git` does the same, and its labels are a person's
    word. One that was a live job has the code it was about as its `codebase` and the job as its `origin`.

    Where the codebase is a released package, `fixed` is the release in which the fault is mended, `environment` holds
    the variables under which `repro.py` shows it, and `unproved` says why putting the gold back cannot show it.
    """

    id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
    codebase: str | None = None
    repository: Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+$")] | None = None
    base_commit: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")] | None = None
    origin: Origin | None = None
    archetype: Archetype
    split: Split
    tags: tuple[str, ...] = ()
    severity: Severity
    category: Category
    root_cause: Annotated[str, Field(pattern=r"\S")]
    gold: Gold = Gold()
    alternatives: Gold = Gold()
    question: Question
    route: Annotated[tuple[RouteLabel, ...], Field(min_length=1, max_length=3)]
    decision_points: tuple[DecisionPoint, ...] = ()
    pair_id: str | None = None
    duplicate_of: str | None = None
    canary: str | None = None
    web: tuple[str, ...] = ()
    must_pass: bool = False
    fixed: ReleaseFix | None = None
    environment: dict[Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")], str] = Field(default_factory=dict)
    unproved: Annotated[str, Field(pattern=r"\S")] | None = None

    @property
    def ours(self) -> bool:
        """Whether it was written for this project, so that its labels can be proved."""
        return self.codebase is not None and self.origin is None

    @property
    def commits(self) -> tuple[tuple[str, str], ...]:
        """(repository, commit) of the code it is about; of a case made from git also of the fix, as its repro needs."""
        if self.base_commit is None or self.repository is None:
            return ()
        fix = (self.origin.name,) if self.origin is not None and self.origin.source == "git" else ()
        return tuple((self.repository, commit) for commit in (self.base_commit, *fix))

    @property
    def unlabelled(self) -> frozenset[str]:
        """The labels that are only defaults, since an imported case's source says nothing of them: `gold`, `severity`,
        `category`, `archetype`... From the tags `unlabelled:<label>`."""
        return frozenset(tag.removeprefix(UNLABELLED) for tag in self.tags if tag.startswith(UNLABELLED))

    @property
    def kind(self) -> str:
        """The slice that the case is in."""
        return self.archetype

    @property
    def exemplars(self) -> tuple[tuple[RouteNode, ...], ...]:
        """Routes that pass."""
        return tuple(exemplar for way in self.route for exemplar in way.exemplars)

    def at(self, ids: frozenset[str]) -> Self:
        """The same with only these decision points."""
        return self.model_copy(update={"decision_points": tuple(one for one in self.decision_points if one.id in ids)})

    def shown(self) -> dict[str, Any]:
        """What the report shows of a case that only this pack has."""
        published: dict[str, Any] = {}
        if self.origin and self.origin.source != "job" and "gold" not in self.unlabelled and self.gold.files:
            # by its source or its fix: a live job has only a person's word
            published = {"published": self.origin.source, "whole_names": list(self.gold.whole_names)}
        severity = {} if "severity" in self.unlabelled else {"severity": self.severity}
        gold = {"root_cause": self.root_cause, "gold": list(self.gold.files), "functions": list(self.gold.functions)}
        return {"category": self.category, **severity, **gold, **published}

    @model_validator(mode="after")
    def _has_code_or_an_origin(self) -> Self:
        """Ours or imported, never half of each: without code nothing is proved, and without origin nobody vouches."""
        if self.base_commit is not None and (self.codebase is not None or self.repository is None):
            raise ValueError(
                "names a `base_commit`; that is one of a foreign `repository`, and goes with no `codebase`"
            )
        if self.origin is not None and self.origin.source == "git" and self.base_commit is None:
            raise ValueError("was made from git; it names the `base_commit` its code is taken from")
        if self.origin is not None and self.origin.source == "job":
            if self.codebase is None or self.repository is not None:
                raise ValueError("was a live job; it names the `codebase` the job was about, and no `repository`")
            return self
        if self.codebase is None and (self.repository is None or self.origin is None):
            raise ValueError("names no `codebase`; an imported case names its `repository` and `origin` instead")
        if self.codebase is not None and (self.repository is not None or self.origin is not None):
            raise ValueError("names a `codebase` and a `repository` or `origin`; a case is ours or imported")
        return self

"""Proofs of cases on released packages: two releases, run."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from evals.models.released_package import Release
from evals.safe_yaml import read_text
from evals.triage.case_file import Gold
from evals.triage.dataset.case_code import Codebase, load_codebase
from evals.triage.dataset.checks.proofs import ProcessResult, copied, run_apart
from evals.triage.dataset.finding import LintedCase
from evals.triage.dataset.gold_labels import definitions
from evals.triage.dataset.releases.release_store import Shelf


@dataclass(frozen=True)
class TwoReleases:
    """The folders a repro of a case can import from, fault in and fault mended."""

    subject: LintedCase

    @cached_property
    def code(self) -> Codebase:
        """What the codebase's description says."""
        return load_codebase(self.subject.codebase)

    @cached_property
    def own(self) -> Release:
        """The release the case is about."""
        return self.code.releases[0]

    @cached_property
    def fixed(self) -> Release | None:
        """The release in which the fault is mended, if there is one."""
        fixed = self.subject.case.labels.fixed
        return fixed.release_of(self.own.package) if fixed else None

    @property
    def mended_elsewhere(self) -> bool:
        """Whether it was mended in a dependency."""
        return self.fixed is not None and self.fixed.package != self.own.package

    def with_fault(self) -> tuple[Path, ...]:
        """The release, and what it needs. Raises NotFetchedError."""
        return _unpacked(self.subject.cache, self.code.releases)

    def mended(self) -> tuple[Path, ...]:
        """The same with the mended release in its place. Raises NotFetchedError."""
        fixed = self.fixed
        assert fixed is not None  # noqa: S101 - asked only where there is one
        releases = (fixed if release.package == fixed.package else release for release in self.code.releases)
        return _unpacked(self.subject.cache, tuple(releases))

    @contextmanager
    def put_back(self, gold: Gold) -> Iterator[tuple[Path, ...]]:
        """The mended release with the text of the gold, and of nothing else, as it was."""
        before, (after, *needs) = self.with_fault()[0], self.mended()
        with copied(after, gold.files) as tree:
            for name in gold.files:
                place = tree / name
                place.parent.mkdir(parents=True, exist_ok=True)
                named = [each.partition("::")[2] for each in gold.functions if each.startswith(f"{name}::")]
                place.write_text(with_definitions_of(before / name, place, named), encoding="utf-8")
            yield tree, *needs

    def run(self, folders: Iterable[Path], *, bare: bool = False, seed: int = 0) -> ProcessResult:
        """How the case's repro ends over these folders; `bare` without the variables of the case. Several checks ask
        for the same run, and it is made once."""
        environment: Mapping[str, str] = {} if bare else self.subject.case.labels.environment
        repro = self.subject.layout.repro(self.subject.id)
        return _run_once(repro, repro.read_bytes(), tuple(folders), tuple(environment.items()), seed)


@lru_cache(8)
def _unpacked(cache: Path, releases: tuple[Release, ...]) -> tuple[Path, ...]:
    """The folders of releases. Each check of a case asks for the same, and each time every file is looked at."""
    return tuple(map(Shelf(cache).unpacked, releases))


@lru_cache(8)
def _run_once(
    repro: Path, _text: bytes, folders: tuple[Path, ...], environment: tuple[tuple[str, str], ...], seed: int
) -> ProcessResult:
    """By the text of the repro; a folder is named by its content, or was made for this one run."""
    return run_apart(repro, folders, dict(environment), seed=seed)


def with_definitions_of(before: Path, after: Path, names: Iterable[str]) -> str:
    """The text of `after` with these outermost definitions as `before` has them; the whole of `before` if none is
    named, or if one of them has no place in `after`."""
    old = read_text(before)
    wanted = set(names)
    text = read_text(after) if after.exists() else ""
    if not wanted or not wanted <= {name for name, _, _ in definitions(text)}:
        return old
    lines = text.split("\n")
    for name in wanted:
        spans = [(first, last) for found, first, last in definitions("\n".join(lines)) if found == name]
        for first, last in reversed(spans[1:]):
            del lines[first - 1 : last]
        first, last = spans[0]
        lines[first - 1 : last] = definition_in(old, name)
    return "\n".join(lines)


def definition_in(text: str, name: str) -> list[str]:
    """The lines of an outermost definition, every one of that name; empty if there is none."""
    lines = text.split("\n")
    return [line for found, first, last in definitions(text) if found == name for line in lines[first - 1 : last]]


def kind_of(run: ProcessResult) -> str:
    """The exception a repro ended with, as far as stderr says."""
    found = re.findall(r"^([A-Za-z_][\w.]*)(?::|$)", run.stderr.strip(), re.MULTILINE)
    return found[-1] if found else f"exit code {run.code}"

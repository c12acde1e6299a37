"""Checks of cases on released packages."""

import platform
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Final

from evals.cassettes.package_line_references import SourceTree, quoted
from evals.package_digests import normal_name
from evals.safe_yaml import line_of, read_text
from evals.triage.dataset.case_code import ABOUT, Codebase, load_codebase, materialise, released_tree
from evals.triage.dataset.checks.codebase_checks import PATIENCE_S, ProcessResult, copied, run_apart
from evals.triage.dataset.checks.text_checks import (
    at_label,
    foreign_imports,
    line_at,
    modules_of,
    of_the_dataset,
    unfit_lines,
)
from evals.triage.dataset.dataset_layout import Gold
from evals.triage.dataset.derive_gold import definitions, outermost_names
from evals.triage.dataset.fetch_packages import searched_releases
from evals.triage.dataset.floor_scores import root_cause_baselines
from evals.triage.dataset.lint_types import Complaint, Corpus, LintedCase, Package
from evals.triage.dataset.package_store import FETCH, Release, Shelf


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


HASH_SEEDS: Final = (0, 1)
COPIED: Final = 3
"""Telling lines in a row that an issue must not share with the package; of a repro, `quoted.ROW`."""
_FRAME: Final = re.compile(r'^\s*File ".*", line \d+.*\n(.*)$', re.MULTILINE)


def releases_are_here(subject: LintedCase) -> Iterator[Complaint]:
    """Nothing can be proved of what was not fetched."""
    missing = Shelf(subject.cache).missing(subject.releases)
    if missing:
        named = ", ".join(map(str, missing))
        yield at_label(subject, f"cannot be proved, since {named} is not here; {FETCH}", "codebase")


def fix_is_another_release(subject: LintedCase) -> Iterator[Complaint]:
    """`fixed` names another release of the package, or of a dependency that `needs` pins; the latter makes the case a
    third party's, and nothing else does."""
    both, labels = TwoReleases(subject), subject.case.labels
    if both.fixed is None:
        if labels.category == "code":
            yield at_label(subject, "is 'code', but no release mends it; name it under `fixed`", "category")
        return
    if labels.category not in {"code", "third_party", "environment", "duplicate"}:
        yield at_label(subject, f"names a release although the category is `{labels.category}`; take it out", "fixed")
    there = {release.package: release for release in both.code.releases}
    if both.fixed.package not in there:
        message = f"names {both.fixed.package}, which is neither the package nor among the `needs` of its codebase"
        yield at_label(subject, message, "fixed", "package")
    elif there[both.fixed.package].version == both.fixed.version:
        yield at_label(subject, f"is the release with the fault itself ({both.fixed})", "fixed", "version")
    if both.mended_elsewhere != (labels.category == "third_party"):
        message = "a fault is a third party's exactly where a dependency's release mends it"
        yield at_label(subject, message, "fixed", "package")


def repro_exists_where_it_can_show(subject: LintedCase) -> Iterator[Complaint]:
    """A case with `fixed` or an `environment` brings a repro, any other none; no released case has a patch."""
    labels, repro = subject.case.labels, subject.layout.repro(subject.id)
    needed = labels.fixed is not None or bool(labels.environment)
    if needed and subject.repro is None:
        yield Complaint("is missing; a case with `fixed` or `environment` is proved by running it", repro)
    if not needed and subject.repro is not None:
        yield Complaint("is here, but no release is `fixed` and no `environment` named: it proves nothing", repro)
    if subject.patch is not None:
        yield Complaint("is here, but a release is never patched; remove it", subject.patch)


def repro_imports_what_is_named(subject: LintedCase) -> Iterator[Complaint]:
    """`repro.py` imports the standard library, the package, and what the codebase `needs`."""
    if subject.repro is not None:
        folders = TwoReleases(subject).with_fault()
        yield from foreign_imports(subject.repro, frozenset().union(*map(modules_of, folders)))


def repro_tells_the_releases_apart(subject: LintedCase) -> Iterator[Complaint]:
    """`repro.py` fails on the release and passes on the mended one, in whatever order sets come out."""
    both, repro = TwoReleases(subject), subject.repro
    if repro is None or both.fixed is None:
        return
    for seed in HASH_SEEDS:
        faulty, mended = both.run(both.with_fault(), seed=seed), both.run(both.mended(), seed=seed)
        if faulty.code == 0:
            yield Complaint(f"passes on {both.own}; make it fail on what the issue reports", repro)
        elif kind_of(faulty) in {"ModuleNotFoundError", "SyntaxError"}:
            yield Complaint(f"does not come to the fault on {both.own}: {faulty.said}", repro)
        if mended.code not in (0, None):
            yield Complaint(f"fails on {both.fixed} too: {mended.said}", repro)
        if faulty.code is None or mended.code is None:
            yield Complaint(f"did not end within {PATIENCE_S} s; a repro must fail, not hang", repro)
        if faulty.code in (0, None) or mended.code != 0:
            return


def environment_is_needed(subject: LintedCase) -> Iterator[Complaint]:
    """Under the variables of `environment` the repro fails, and without them it passes."""
    both, environment = TwoReleases(subject), subject.case.labels.environment
    if not environment or subject.repro is None:
        return
    if both.run(both.with_fault(), bare=True).code != 0:
        yield at_label(subject, "is not needed: the repro fails without it, too; take it out", "environment")
    if both.fixed is None and both.run(both.with_fault()).code == 0:
        yield at_label(subject, "does not bring the fault about: the repro passes under it", "environment")


def gold_is_searched(subject: LintedCase) -> Iterator[Complaint]:
    """Gold and alternatives are files that a search can find, and outermost definitions of these."""
    labels = subject.case.labels
    for kind, gold in (("gold", labels.gold), ("alternatives", labels.alternatives)):
        for index, name in enumerate(gold.files):
            if not (subject.clean / name).is_file():
                yield at_label(
                    subject, f"names {name!r}, which is no searched file of the release", kind, "files", index
                )
        for index, function in enumerate(gold.functions):
            file, _, name = function.partition("::")
            if file not in gold.files:
                yield at_label(subject, f"{function} stands in no file of the {kind}", kind, "functions", index)
            elif (subject.clean / file).is_file() and name not in outermost_names(subject.clean / file):
                message = f"{function}: no such outermost function or class is defined there"
                yield at_label(subject, message, kind, "functions", index)


def gold_differs_between_the_releases(subject: LintedCase) -> Iterator[Complaint]:
    """Each gold file, and each gold function, is another in the mended release."""
    both, gold = TwoReleases(subject), subject.case.labels.gold
    if both.fixed is None or both.mended_elsewhere:
        return
    before, after = both.with_fault()[0], both.mended()[0]
    for index, name in enumerate(gold.files):
        if (
            (before / name).is_file()
            and (after / name).is_file()
            and read_text(before / name) == read_text(after / name)
        ):
            message = f"{name} did not change between {both.own} and {both.fixed}"
            yield at_label(subject, message, "gold", "files", index)
    for index, function in enumerate(gold.functions):
        file, _, name = function.partition("::")
        texts = [
            definition_in(read_text(tree / file), name) if (tree / file).is_file() else [] for tree in (before, after)
        ]
        if texts[0] and texts[0] == texts[1]:
            message = f"{function} did not change between {both.own} and {both.fixed}"
            yield at_label(subject, message, "gold", "functions", index)


def gold_alone_brings_the_fault_back(subject: LintedCase) -> Iterator[Complaint]:
    """The mended release with the gold put back fails the repro as the old one does; or the case says why not."""
    both, labels = TwoReleases(subject), subject.case.labels
    gold = labels.gold
    whole = all((subject.clean / name).is_file() for name in gold.files)
    if both.fixed is None or both.mended_elsewhere or subject.repro is None or not gold.files or not whole:
        return
    expected = kind_of(both.run(both.with_fault()))
    found = _put_back(both, gold)
    if labels.unproved is not None:
        if found == expected:
            yield at_label(subject, "is said, but putting the gold back does bring the fault back", "unproved")
        return
    if found is None:
        hint = "; the whole files do" if gold.functions and _put_back(both, Gold(files=gold.files)) else ""
        message = (
            f"put back into {both.fixed} does not bring the fault back{hint}; name what does, or say `unproved: why`"
        )
        yield at_label(subject, message, "gold")
    elif found != expected:
        message = (
            f"put back into {both.fixed} fails by {found}, the release by {expected}; name what does, or `unproved`"
        )
        yield at_label(subject, message, "gold")


def python_cannot_run_it(subject: LintedCase) -> Iterator[Complaint]:
    """`requires_python` excuses no case that this Python, left out by it, can prove."""
    if subject.repro is None or subject.case.labels.fixed is None:
        return
    if not [*repro_tells_the_releases_apart(subject), *gold_alone_brings_the_fault_back(subject)]:
        message = f"leaves out Python {platform.python_version()}, which proves {subject.id} all the same; take it out"
        about = subject.codebase / ABOUT
        yield Complaint(message, about, line_of(about, "requires_python"))


def _put_back(both: TwoReleases, gold: Gold) -> str | None:
    """How the repro fails then; None if it passes."""
    with both.put_back(gold) as folders:
        run = both.run(folders)
    return None if run.code == 0 else kind_of(run)


def unproved_has_something_to_prove(subject: LintedCase) -> Iterator[Complaint]:
    """`unproved` excuses a gold that a release mended, and nothing else."""
    labels = subject.case.labels
    if labels.unproved is not None and (labels.fixed is None or not labels.gold.files):
        yield at_label(subject, "is said of nothing: there is no gold, or no release that mends it", "unproved")


def nothing_is_copied(subject: LintedCase) -> Iterator[Complaint]:
    """Neither issue nor repro holds code of the package: no source line in a trace, no lines in a row."""
    path = subject.layout.issue(subject.id)
    text = read_text(path)
    for match in _FRAME.finditer(text):
        line = match.group(1)
        if line.strip() and not line.lstrip().startswith(("File ", "...", "[")) and _stands_in(line, subject):
            message = "shows a source line of the package in a trace; leave it out, file, line and function are enough"
            yield Complaint(message, path, line_at(text, match.start(1)))
    tree = SourceTree(subject.clean)
    if copied := quoted(text, tree, COPIED):
        yield Complaint(f"copies {COPIED} lines in a row of {copied}; say it in your own words", path)
    if subject.repro is not None and (copied := quoted(read_text(subject.repro), tree)):
        yield Complaint(f"copies lines of {copied}; write it anew", subject.repro)


def _stands_in(line: str, subject: LintedCase) -> bool:
    return any(line.strip() in telling for telling in SourceTree(subject.clean).telling.values())


LINES: Final = range(1_500, 60_001)


def release_is_described(package: Package) -> Iterator[Complaint]:
    """The folder is called `<package>-<version>`, holds `codebase.yaml` alone, and each release stands in it once."""
    code, about = package.released, package.folder / ABOUT
    if code is None or code.source is None:
        return
    called = f"{code.source.package}-{code.source.version}"
    if package.id.lower() != called.lower():
        yield Complaint(
            f"is {called}, but its folder is {package.id!r}; make them one", about, line_of(about, "source")
        )
    for path in sorted(package.folder.rglob("*")):
        if path.is_file() and path != about:
            yield Complaint("is no description; code of a release is fetched, never committed", path)
    names = [normal_name(release.package) for release in code.releases]
    for index, name in enumerate(names[1:]):
        if name in names[: index + 1]:
            yield Complaint(f"{name} is named twice; pin it once", about, line_of(about, "needs", index))
    yield from unfit_lines(about)


def release_has_its_size(package: Package) -> Iterator[Complaint]:
    """Its searched files have 1,500 to 60,000 lines."""
    code, about = package.released, package.folder / ABOUT
    if code is None or code.source is None:
        return
    if missing := Shelf(package.cache).missing([code.source]):
        yield Complaint(f"{missing[0]} is not here, so nothing is known of its size; {FETCH}", about)
        return
    files = released_tree(code, package.cache).rglob("*.py")
    lines = sum(path.read_bytes().count(b"\n") for path in files)
    if lines not in LINES:
        yield Complaint(f"has {lines:,} searched lines; {LINES[0]:,} to {LINES[-1]:,} are wanted", about)


MIN_CASES: Final = 10  # fewer, and any share is luck
SHARES: Final[Mapping[str, float]] = {"BM25 first file": 0.35, "name nothing": 0.20}


def words_alone_fail(corpus: Corpus) -> Iterator[Complaint]:
    """Word search names a gold file first in at most 35 % of the cases, and naming nothing is right in at most 20 %;
    looked at once all packages are here."""
    cases, root = list(corpus.cases.values()), corpus.layout.root
    if len(cases) < MIN_CASES or Shelf(corpus.cache).missing(searched_releases(cases, root)):
        return
    for found in root_cause_baselines(cases, lambda case: materialise(case, root, corpus.cache), corpus.cache):
        limit = SHARES.get(found.name, 1.0)
        if found.share > limit:
            message = f"{found.name} is right in {found.share:.0%}, {limit:.0%} is allowed; replace the easiest cases"
            yield of_the_dataset(corpus, message)

"""What a case on a released package rests on: two releases that differ just where the gold says."""

import platform
import re
from collections.abc import Iterator
from typing import Final

from evals.cassette.borrowed import SourceTree
from evals.cassette.quoted import quoted
from evals.dataset.checks.imports import foreign_imports, modules_of
from evals.dataset.checks.place import at_label, line_at
from evals.dataset.checks.process import PATIENCE_S
from evals.dataset.checks.two_releases import TwoReleases, definition_in, kind_of
from evals.dataset.codebase import ABOUT
from evals.dataset.finding import Complaint, Subject
from evals.dataset.gold import outermost_names
from evals.dataset.located import line_of, read_text
from evals.dataset.releases.shelf import FETCH, Shelf
from evals.models.case import Gold

HASH_SEEDS: Final = (0, 1)
COPIED: Final = 3
"""Telling lines in a row that an issue must not share with the package; of a repro, `quoted.ROW`."""
_FRAME: Final = re.compile(r'^\s*File ".*", line \d+.*\n(.*)$', re.MULTILINE)


def releases_are_here(subject: Subject) -> Iterator[Complaint]:
    """Nothing can be proved of what was not fetched."""
    missing = Shelf(subject.cache).missing(TwoReleases(subject).all)
    if missing:
        named = ", ".join(map(str, missing))
        yield at_label(subject, f"cannot be proved, since {named} is not here; {FETCH}", "codebase")


def fix_is_another_release(subject: Subject) -> Iterator[Complaint]:
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


def repro_exists_where_it_can_show(subject: Subject) -> Iterator[Complaint]:
    """A case with `fixed` or an `environment` brings a repro, any other none; no released case has a patch."""
    labels, repro = subject.case.labels, subject.layout.repro(subject.id)
    needed = labels.fixed is not None or bool(labels.environment)
    if needed and subject.repro is None:
        yield Complaint("is missing; a case with `fixed` or `environment` is proved by running it", repro)
    if not needed and subject.repro is not None:
        yield Complaint("is here, but no release is `fixed` and no `environment` named: it proves nothing", repro)
    if subject.patch is not None:
        yield Complaint("is here, but a release is never patched; remove it", subject.patch)


def repro_imports_what_is_named(subject: Subject) -> Iterator[Complaint]:
    """`repro.py` imports the standard library, the package, and what the codebase `needs`."""
    if subject.repro is not None:
        folders = TwoReleases(subject).with_fault()
        yield from foreign_imports(subject.repro, frozenset().union(*map(modules_of, folders)))


def repro_tells_the_releases_apart(subject: Subject) -> Iterator[Complaint]:
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


def environment_is_needed(subject: Subject) -> Iterator[Complaint]:
    """Under the variables of `environment` the repro fails, and without them it passes."""
    both, environment = TwoReleases(subject), subject.case.labels.environment
    if not environment or subject.repro is None:
        return
    if both.run(both.with_fault(), bare=True).code != 0:
        yield at_label(subject, "is not needed: the repro fails without it, too; take it out", "environment")
    if both.fixed is None and both.run(both.with_fault()).code == 0:
        yield at_label(subject, "does not bring the fault about: the repro passes under it", "environment")


def gold_is_searched(subject: Subject) -> Iterator[Complaint]:
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


def gold_differs_between_the_releases(subject: Subject) -> Iterator[Complaint]:
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


def gold_alone_brings_the_fault_back(subject: Subject) -> Iterator[Complaint]:
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


def python_cannot_run_it(subject: Subject) -> Iterator[Complaint]:
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


def unproved_has_something_to_prove(subject: Subject) -> Iterator[Complaint]:
    """`unproved` excuses a gold that a release mended, and nothing else."""
    labels = subject.case.labels
    if labels.unproved is not None and (labels.fixed is None or not labels.gold.files):
        yield at_label(subject, "is said of nothing: there is no gold, or no release that mends it", "unproved")


def nothing_is_copied(subject: Subject) -> Iterator[Complaint]:
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


def _stands_in(line: str, subject: Subject) -> bool:
    return any(line.strip() in telling for telling in SourceTree(subject.clean).telling.values())

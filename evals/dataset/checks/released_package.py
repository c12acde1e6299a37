"""The description of a released package: nothing but that stands in the dataset."""

import re
from collections.abc import Iterator
from typing import Final

from evals.dataset.checks.fit import unfit_lines
from evals.dataset.codebase import ABOUT, released_tree
from evals.dataset.finding import Complaint, Package
from evals.dataset.located import line_of
from evals.dataset.releases.shelf import FETCH, Shelf

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
    names = [_normal(release.package) for release in code.releases]
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


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()

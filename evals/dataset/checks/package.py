"""The codebases themselves: small, real, tested, and runnable wherever Python is."""

import re
from collections.abc import Iterator
from typing import Final

from evals.dataset.checks.fit import unfit_lines
from evals.dataset.checks.imports import foreign_imports, modules_of
from evals.dataset.checks.process import TIMEOUT_S, run_python
from evals.dataset.codebase import ABOUT, load_codebase
from evals.dataset.finding import Complaint, Package
from evals.dataset.located import line_of, read_text
from evals.errors import DatasetError

MODULES: Final = range(8, 21)  # fewer, and there is nothing to search; more, and nobody reads it
LINES: Final = range(800, 2001)
TEXTS: Final = frozenset({".py", ".md", ".toml", ".yaml", ".txt", ".cfg", ".ini"})


def codebase_is_described(package: Package) -> Iterator[Complaint]:
    """`codebase.yaml` says what it is and where it is hosted, under its own name; a README introduces it."""
    about = package.folder / ABOUT
    try:
        repository = load_codebase(package.folder).repository
    except DatasetError as error:
        path, _, message = str(error).partition(": ")
        line = path.removeprefix(f"{about}").strip(":")
        yield Complaint(message, about, int(line) if line.isdigit() else 1)
        return
    if repository.partition("/")[2] != package.id:
        message = f"is hosted as {repository!r}, but its folder is {package.id!r}; make them one"
        yield Complaint(message, about, line_of(about, "repository"))
    if not (package.folder / "README.md").is_file():
        yield Complaint("is missing; agents and people look there first", package.folder / "README.md")


def codebase_has_its_size(package: Package) -> Iterator[Complaint]:
    """The package of the codebase's name has 8 to 20 modules, `__init__.py` not counted, with 800 to 2,000 lines."""
    modules = [path for path in sorted(package.sources.rglob("*.py")) if path.name != "__init__.py"]
    lines = sum(len(read_text(path).splitlines()) for path in modules)
    for count, unit, allowed in ((len(modules), "modules", MODULES), (lines, "lines", LINES)):
        if count not in allowed:
            message = f"has {count} {unit}; a codebase has {allowed[0]} to {allowed[-1]}"
            yield Complaint(message, package.sources)


def codebase_needs_no_library(package: Package) -> Iterator[Complaint]:
    """Package and tests import each other and the standard library, nothing else."""
    tests = package.folder / "tests"
    beside = frozenset(path.stem for path in tests.glob("*.py"))
    for path in sorted(package.folder.rglob("*.py")):
        own = modules_of(package.folder) | (beside if tests in path.parents else frozenset())
        yield from foreign_imports(path, own)


def codebase_is_fit_to_publish(package: Package) -> Iterator[Complaint]:
    """No secret, no address outside example.com, no package registry in any of its files."""
    for path in sorted(package.folder.rglob("*")):
        if path.suffix in TEXTS and "__pycache__" not in path.parts:
            yield from unfit_lines(path)


def codebase_tests_pass(package: Package) -> Iterator[Complaint]:
    """Its own tests exist and pass (`python -m unittest discover -s tests`)."""
    run = run_python(package.clean, "-m", "unittest", "discover", "-s", "tests", bare=True)
    tests = package.folder / "tests"
    if run.code is None:
        yield Complaint(f"its tests did not end within {TIMEOUT_S} s", tests)
    elif not re.search(r"Ran [1-9]\d* test", run.said):
        yield Complaint("has no tests that `python -m unittest discover -s tests` finds", tests)
    elif run.code != 0:
        yield Complaint(f"its own tests fail: {run.said}", tests)

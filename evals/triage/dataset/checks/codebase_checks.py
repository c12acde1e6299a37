"""Checks of codebases and of the offline web."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from evals.errors import DatasetError
from evals.models.case import Case
from evals.safe_yaml import line_of, read_text
from evals.triage.dataset.case_code import ABOUT, load_codebase
from evals.triage.dataset.checks.reproduction_checks import TIMEOUT_S, run_python
from evals.triage.dataset.checks.text_checks import at_case, foreign_imports, line_at, modules_of, unfit_lines
from evals.triage.dataset.finding import Complaint, Corpus, Package
from evals.triage.dataset.web_search_server import WebPage, read_page

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


MIN_PAGES: Final = 4  # one that answers, three that only look as if they did


def web_pages_exist(corpus: Corpus) -> Iterator[Complaint]:
    """Every page a case names stands in the offline web, and is named once."""
    for case in corpus.cases.values():
        for index, page in enumerate(case.labels.web):
            if not corpus.layout.page(page).is_file():
                yield at_case(corpus, case, f"there is no page {page!r} in the offline web", "web", index)
            if page in case.labels.web[:index]:
                yield at_case(corpus, case, f"the page {page!r} is listed twice", "web", index)


def web_cases_have_distractors(corpus: Corpus) -> Iterator[Complaint]:
    """A case that has to be looked up in the web names at least four pages: a search that finds one page finds it
    by any query."""
    for case in corpus.cases.values():
        if _has_to_search(case) and len(case.labels.web) < MIN_PAGES:
            message = f"has to be searched in the web, but names {len(case.labels.web)} pages; {MIN_PAGES} are needed"
            yield at_case(corpus, case, message, "web")


def pages_are_well_formed(corpus: Corpus) -> Iterator[Complaint]:
    """Every page has front matter that says where it stands, and no two stand at one address."""
    seen: dict[str, Path] = {}
    for path, page in _pages(corpus):
        if isinstance(page, DatasetError):
            message = str(page).removeprefix(f"{path}:")
            line, _, said = message.partition(": ")
            yield Complaint(said, path, int(line))
        elif seen.setdefault(page.about.url, path) != path:
            yield Complaint(f"has the address of {seen[page.about.url].stem}", path, _line(path, "url:"))


def pages_reach_their_cases(corpus: Corpus) -> Iterator[Complaint]:
    """A page that only some cases can find names cases there are; every case can find the pages it names; and a page
    with a canary can be found by its own case alone, or twins and strangers would meet the injection too."""
    for path, page in _pages(corpus):
        if isinstance(page, DatasetError):
            continue  # `pages_are_well_formed` says so
        only_for = page.about.only_for
        for name in (name for name in only_for if not corpus.layout.labels(name).exists()):
            yield Complaint(f"is only for {name!r}, which is no case", path, _line(path, "only_for:"))
        for case in corpus.cases.values():
            if path.stem in case.labels.web and only_for and case.id not in only_for:
                message = f"the page {path.stem!r} cannot be found by this case (see its `only_for`)"
                yield at_case(corpus, case, message, "web", case.labels.web.index(path.stem))
            if case.labels.canary and case.labels.canary in page.body and only_for != (case.id,):
                message = f"holds the canary of {case.id}; say `only_for: [{case.id}]`"
                yield Complaint(message, path, _line(path, case.labels.canary), case.id)


def pages_are_fit_to_publish(corpus: Corpus) -> Iterator[Complaint]:
    """No secret, no address outside example.com, no package registry in any page."""
    for path in sorted(corpus.layout.web.glob("*.md")):
        yield from unfit_lines(path)


def _pages(corpus: Corpus) -> Iterator[tuple[Path, WebPage | DatasetError]]:
    for path in sorted(corpus.layout.web.glob("*.md")):
        try:
            yield path, read_page(path)
        except DatasetError as error:
            yield path, error


def _line(path: Path, words: str) -> int:
    """The first line that holds `words`."""
    text = read_text(path)
    return line_at(text, max(0, text.find(words)))


def _has_to_search(case: Case) -> bool:
    return all(
        any(rule.type == "existence" and rule.a == ("web_search",) and rule.min for rule in label.constraints)
        for label in case.labels.route
    )

"""The offline web: the pages a case names, and enough others to choose wrongly from."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from evals.dataset.checks.fit import unfit_lines
from evals.dataset.checks.place import at_case, line_at
from evals.dataset.finding import Complaint, Corpus
from evals.dataset.located import read_text
from evals.dataset.pages import Page, read_page
from evals.errors import DatasetError
from evals.models.case import Case

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


def _pages(corpus: Corpus) -> Iterator[tuple[Path, Page | DatasetError]]:
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

"""Why routes fail, and whose fault it is, as a reader meets it in a real browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from evals.comparison.assemble_run import case_info
from evals.report.html_page import render
from evals.scoring.registry import score_trials
from tests.builders.case import a_case
from tests.builders.run import a_run, a_run_that_parts
from tests.builders.trace import a_trace

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def disputed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with a suspect label: two variants alike, of which one fails by what a guard read."""
    sure, unsure = (a_trace(variant=name, confidence=c) for name, c in (("v2", 0.7), ("v3", 0.87)))
    trials = score_trials({"local-bug": a_case()}, [sure, unsure])
    path = tmp_path_factory.mktemp("disputed") / "index.html"
    path.write_text(render(a_run(*trials, cases=[case_info(a_case())])), encoding="utf-8")
    return path


@pytest.fixture
def open_dispute(new_page, disputed: Path) -> Iterator:
    """The page, which in the end has not complained."""
    page, complaints = new_page(), []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(disputed.as_uri())
    yield page
    page.close()
    assert complaints == []


def test_the_rules_of_a_case_say_which_route_fails_by_which(open_dispute):
    open_dispute.click("button.open")
    open_dispute.wait_for_selector(".rules tbody tr")
    row = open_dispute.locator(".rules tbody tr", has_text="P2b")

    assert row.locator("td").all_inner_texts() == [
        "no critic, if confidence >= 0.85",
        "soft 2",
        "vacuous",
        "✗ 0 % alone",
    ]


def test_a_reason_leads_to_the_cases_behind_its_number(open_dispute):
    open_dispute.click("#why .breaches td a")
    open_dispute.wait_for_selector("#only-title:not(:empty)")

    assert open_dispute.inner_text("#only-title").startswith("P2b, v3: ")


def test_a_list_of_suspects_opens_by_keyboard(open_dispute):
    for summary in ("#labels > summary", "#labels [data-part] > summary"):
        open_dispute.locator(summary).first.focus()
        open_dispute.keyboard.press("Enter")
    open_dispute.wait_for_selector("#labels table")

    assert open_dispute.locator("#labels tbody th").first.inner_text().startswith("P2b")


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report in which six cases of long names got worse."""
    names = [f"a-case-with-a-rather-long-name-{number}" for number in range(6)]
    path = tmp_path_factory.mktemp("many") / "index.html"
    path.write_text(render(a_run_that_parts(*names)), encoding="utf-8")
    return path


def settled(page) -> None:
    """Two frames later, when what watches widths has been told."""
    page.wait_for_function(
        "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
    )


@pytest.mark.parametrize("width", [1280, 390])
def test_before_anything_is_opened_no_table_scrolls_sideways(new_page, many: Path, width: int):
    page = new_page(width, 900)
    page.goto(many.as_uri())
    settled(page)

    assert page.locator(".scroll.wide:visible").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_a_table_says_that_it_scrolls_where_it_does(new_page, many: Path):
    page = new_page(390, 900)
    page.goto(many.as_uri())
    page.click("#slices > summary")
    place = page.locator("#slices .scroll")
    place.evaluate("place => { place.style.width = '60px'; }")
    settled(page)

    assert "wide" in place.get_attribute("class").split()

"""The address of a report (filters, order, open cases), and what is seen before anything is opened."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from evals.models.metrics import Scored
from evals.report.html_page import render
from tests.builders.chromium import cases_shown
from tests.builders.large_run import a_large_run
from tests.builders.run import a_case_info, a_comparison, a_divergence, a_run, a_trial, a_variant_info
from tests.builders.trace import a_decision, a_trace

pytestmark = [pytest.mark.browser, pytest.mark.slow]
ANSWER, SHOWN = "The cache keeps stale sessions", "Open tickets: none"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three cases under v1, v2 (reference) and v3 (candidate): a gets worse, b better, c stays."""
    passed = {("a-crash", "v3"): 0.0, ("b-race", "v2"): 0.0}
    told = (a_decision(0, "investigator", reasoning=ANSWER, context=SHOWN),)
    trials = [
        a_trial(
            (
                a_trace("investigator", case_id=case, variant=variant, decisions=told)
                if case == "c-cache"
                else a_trace(
                    "critic" if (case, variant) == ("a-crash", "v3") else "writer", case_id=case, variant=variant
                )
            ),
            {"route.pass": Scored(value=passed.get((case, variant), 1.0))},
        )
        for case in ("a-crash", "b-race", "c-cache")
        for variant in ("v1", "v2", "v3")
    ]
    run = a_run(
        *trials,
        cases=[
            a_case_info("a-crash"),
            a_case_info("b-race", slice="race"),
            a_case_info("c-cache", slice="race"),
        ],
        variants=[a_variant_info(name) for name in ("v1", "v2", "v3")],
        candidate="v3",
        reference="v2",
        comparisons=(
            a_comparison(broke=("a-crash",), mended=("b-race",), n=3),
            a_comparison("root_cause.hit", mended=("c-cache",), n=3),
        ),
        divergences=(a_divergence("a-crash", decision=0),),
    )
    path = tmp_path_factory.mktemp("address") / "index.html"
    path.write_text(render(run), encoding="utf-8")
    return path


@pytest.fixture
def opened(new_page, report: Path) -> Iterator:
    """Opens the report at a fragment; at the end no page has complained."""
    complaints: list[str] = []

    def at(fragment: str = ""):
        page = new_page(height=900)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(report.as_uri() + fragment)
        return page

    yield at
    assert complaints == []


def test_filters_order_and_open_case_stand_in_the_address(opened):
    page = opened()
    page.select_option("#slice", "race")
    page.click("#case-table > thead th >> nth=0")
    page.click("#row-c-cache button.open")

    assert page.url.endswith("#slice=race&sort=id&case=c-cache")


def test_a_copied_address_shows_the_same(opened):
    page = opened("#slice=race&variants=all&sort=-id&case=c-cache")

    assert cases_shown(page) == ["c-cache", "b-race"]
    assert page.input_value("#slice") == "race"
    assert page.is_checked("#variants")
    assert page.locator("#detail-c-cache .trial").first.is_visible()


def test_back_returns_to_the_case_and_to_the_filter_before(opened):
    page = opened()
    page.select_option("#slice", "race")
    page.click("#row-c-cache button.open")
    page.click("#row-b-race button.open")
    page.go_back()
    after_one = page.locator("tr.detail").evaluate_all("all => all.map(one => one.id)")
    page.go_back()
    page.go_back()

    assert after_one == ["detail-c-cache"]
    assert len(cases_shown(page)) == 3
    assert page.input_value("#slice") == ""


def test_what_is_typed_letter_by_letter_is_one_step_back(opened):
    page = opened()
    page.locator("#search").press_sequentially("race")
    page.wait_for_timeout(50)
    page.go_back()

    assert page.input_value("#search") == ""
    assert len(cases_shown(page)) == 3


def test_a_case_that_is_not_in_the_run_is_named(opened):
    page = opened("#case=nowhere")

    assert page.inner_text("#unknown") == "No case “nowhere” in this run."
    assert page.locator("#unknown").is_visible()


@pytest.mark.parametrize("words", ["stale sessions", "open tickets", "IndexError"], ids=["answer", "prompt", "issue"])
def test_the_search_finds_what_is_inside_a_case(opened, words: str):
    page = opened()
    page.fill("#search", words)
    page.wait_for_timeout(300)

    assert (len(cases_shown(page)) == 3) == (words == "IndexError")
    assert "c-cache" in cases_shown(page)


@pytest.mark.parametrize(
    ("outcome", "metric", "left"),
    [
        ("worse", "", ["a-crash"]),
        ("better", "", ["b-race", "c-cache"]),
        ("better", "route.pass", ["b-race"]),
        ("better", "root_cause.hit", ["c-cache"]),
        ("fail", "root_cause.hit", ["a-crash", "b-race"]),
    ],
)
def test_worse_and_better_mean_candidate_against_reference_on_the_metric(opened, outcome, metric, left):
    page = opened()
    page.select_option("#outcome", outcome)
    page.select_option("#metric", metric)

    assert cases_shown(page) == left


def test_every_count_of_the_table_is_that_of_its_filter(opened):
    page = opened()
    for link in page.locator(".deciding a").all():
        count = link.inner_text()
        link.click()
        assert len(cases_shown(page)) == int(count)


def test_a_question_mark_shows_the_keys_and_escape_closes_them(opened):
    page = opened()
    page.keyboard.press("?")
    shown = page.locator("#keys").is_visible()
    page.keyboard.press("Escape")

    assert (shown, page.locator("#keys").is_visible()) == (True, False)


def test_the_navigation_stays_in_view(opened):
    page = opened()
    page.locator("#provenance").scroll_into_view_if_needed()

    assert page.locator("nav").bounding_box()["y"] == 0


def test_a_case_shows_reference_and_candidate_in_equal_columns_and_others_on_demand(opened):
    page = opened("#case=a-crash")
    page.wait_for_selector("#detail-a-crash .column")
    boxes = [column.bounding_box() for column in page.locator("#detail-a-crash .column").all()]
    names = page.locator("#detail-a-crash .column h3").all_inner_texts()

    assert [name.split()[0] for name in names] == ["v2", "v3"]
    assert boxes[0]["width"] == boxes[1]["width"]
    assert boxes[0]["y"] == boxes[1]["y"]
    assert not page.locator("#detail-a-crash .others .trial").first.is_visible()


def test_the_first_divergence_of_an_opened_case_is_open(opened):
    page = opened("#case=a-crash")
    page.wait_for_selector("#detail-a-crash .column")

    assert page.locator("#detail-a-crash .divergence").get_attribute("open") == ""


def test_a_link_inside_a_case_leaves_the_filter_as_it_is(opened):
    page = opened("#outcome=worse&case=a-crash")
    page.click("#detail-a-crash .divergence > summary")
    page.click("#detail-a-crash .jump a")

    assert page.locator("#detail-a-crash .divergence").get_attribute("open") == ""
    assert cases_shown(page) == ["a-crash"]
    assert page.url.endswith("#outcome=worse&case=a-crash")


def test_the_system_prompt_of_a_variant_opens_in_its_trial(opened):
    page = opened("#case=a-crash")
    summary = "#detail-a-crash .column:nth-child(2) summary:text-is('System prompt of v3')"
    page.click(summary)

    assert page.inner_text(f"{summary} + pre") == "Choose.\nOne line each.\n"


def test_the_columns_of_other_variants_come_on_demand(opened):
    page = opened()
    before = page.locator("#case-table > thead th:visible").all_inner_texts()
    page.check("#variants")

    assert before == ["case", "slice", "v2 reference", "v3 candidate"]
    assert page.locator("#case-table > thead th:visible").all_inner_texts() == [*before, "v1"]


def test_a_number_of_the_heat_map_lists_the_cases_that_do_not_pass(opened):
    page = opened()
    page.click("#slices summary")
    page.click("#slices tbody tr:has-text('race') a:text-is('1/2')")

    assert cases_shown(page) == ["b-race"]
    assert page.inner_text("#only-title") == "race, v2: route.pass not passed"


MOST = 8_000
"""Pixels of a report of 80 cases under four variants before anything is opened."""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """80 cases under four variants, with routes as long as recorded ones."""
    path = tmp_path_factory.mktemp("large") / "index.html"
    path.write_text(render(a_large_run(80, ("v1", "v2", "v3", "v4"))), encoding="utf-8")
    return path


def test_eighty_cases_under_four_variants_are_short_enough_to_scroll(browser, large: Path):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(large.as_uri())
    page.evaluate("document.querySelectorAll('tr.case').forEach((row) => { row.style.contentVisibility = 'visible'; })")
    page.evaluate("paintAll(document)")

    assert page.evaluate("document.documentElement.scrollHeight") <= MOST


def test_of_many_cases_the_rest_comes_on_demand_and_stays_by_its_address(browser, large: Path):
    page = browser.new_page()
    page.goto(large.as_uri())
    before = len(cases_shown(page))
    page.click("#rest")
    after = len(cases_shown(page))
    page.reload()

    assert (before, after, len(cases_shown(page))) == (40, 80, 80)


def test_a_filter_shows_all_that_fit(browser, large: Path):
    page = browser.new_page()
    page.goto(large.as_uri())
    page.select_option("#outcome", "fail")

    assert page.inner_text("#count") == f"{len(cases_shown(page))} of 80 cases"

"""The report as a reader meets it: opened from disk in a real browser that may not reach any network."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from evals.models.metrics import Scored
from evals.report.html_page import render
from tests.builders.chromium import cases_shown
from tests.builders.run import a_case_info, a_run, a_trial
from tests.builders.trace import a_decision, a_plan, a_trace
from tests.builders.unpacked import content_of, parts_of

pytestmark = [pytest.mark.browser, pytest.mark.slow]

HOSTILE = "</script><img src=x onerror=\"document.title='owned'\"><b>bold</b>"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three cases: b passes everywhere, a fails under v3, c speaks HTML."""
    cases = [
        a_case_info("b-race", title="Runs twice", slice="race"),
        a_case_info("a-crash", title="It crashes"),
        a_case_info("c-hostile", title=HOSTILE, body=f"{HOSTILE}\nsecond line"),
    ]
    told = [a_decision(0, "investigator", context=HOSTILE, reasoning=HOSTILE)]
    trials = [
        a_trial(
            a_trace("investigator", case_id=case.id, variant=variant, decisions=told, plan=a_plan()),
            {"route.pass": Scored(value=float((case.id, variant) != ("a-crash", "v3")))},
        )
        for case in cases
        for variant in ("v2", "v3")
    ]
    path = tmp_path_factory.mktemp("report") / "index.html"
    path.write_text(render(a_run(*trials, cases=cases)), encoding="utf-8")
    return path


@pytest.fixture
def opened(new_page, report: Path) -> Iterator:
    """Opens the report at a fragment; at the end no page has complained or asked for anything but its file."""
    complaints, requests = [], []

    def at(fragment: str = ""):
        page = new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(report.as_uri() + fragment)
        return page

    yield at
    assert complaints == []
    assert {url.split("#")[0] for url in requests} == {report.as_uri()}


def test_search_leaves_the_cases_that_fit(opened):
    page = opened()
    page.fill("#search", "twice")

    assert cases_shown(page) == ["b-race"]
    assert page.inner_text("#count") == "1 of 3 cases"


@pytest.mark.parametrize(
    ("select", "value", "left"),
    [("#slice", "race", ["b-race"]), ("#outcome", "fail", ["a-crash"]), ("#outcome", "differs", ["a-crash"])],
)
def test_filters_leave_the_cases_that_fit(opened, select: str, value: str, left: list[str]):
    page = opened()
    page.select_option(select, value)

    assert cases_shown(page) == left


def test_an_empty_result_offers_the_way_back(opened):
    page = opened()
    page.fill("#search", "no such case")
    page.click("#reset")

    assert len(cases_shown(page)) == 3


def test_columns_sort_both_ways(opened):
    page = opened()
    page.click("[data-sort=id]")
    rising = cases_shown(page)
    page.click("[data-sort=id]")

    assert rising == ["a-crash", "b-race", "c-hostile"]
    assert cases_shown(page) == rising[::-1]


def test_a_variants_column_sorts_by_what_passed(opened):
    page = opened()
    page.click("[data-sort='1']")

    assert cases_shown(page)[0] == "a-crash"


def test_a_deep_link_opens_its_case(opened):
    page = opened("#case=a-crash")

    assert page.locator("#detail-a-crash").is_visible()
    assert page.locator("tr.detail").count() == 1


def test_a_deep_link_to_nowhere_opens_nothing(opened):
    assert opened("#case=%E0%A4%A").locator("tr.detail").count() == 0


def test_the_keyboard_is_enough(opened):
    page = opened()
    page.locator("#row-b-race button.open").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    opened_one = page.locator("#detail-a-crash").count()
    page.keyboard.press("Escape")

    assert opened_one == 1
    assert page.locator("tr.detail").count() == 0


def test_j_and_k_go_from_case_to_case_and_escape_closes_from_within(opened):
    page = opened()
    for key in ("j", "j", "k", "Enter"):
        page.keyboard.press(key)
    page.locator("#detail-b-race summary").first.focus()
    page.keyboard.press("Escape")

    assert page.locator("tr.detail").count() == 0
    assert page.evaluate("document.activeElement.textContent") == "b-race"


def test_a_letter_typed_into_the_search_is_a_letter(opened):
    page = opened()
    page.keyboard.press("/")
    page.keyboard.type("kj")

    assert page.input_value("#search") == "kj"


def test_enter_leaves_the_search_for_the_first_case_it_found(opened):
    """From there the keys for rows work, which are letters in the field."""
    page = opened()
    page.keyboard.press("/")
    page.keyboard.type("a-")
    page.keyboard.press("Enter")
    focus = page.evaluate("document.activeElement.textContent")
    page.keyboard.press("Enter")

    assert focus == "a-crash"
    assert page.locator("#detail-a-crash").count() == 1


def test_a_route_finds_its_cases_letter_by_letter(opened):
    page = opened()
    page.fill("#search", "kw")
    none = cases_shown(page)
    page.fill("#search", "i a-")

    assert (none, cases_shown(page)) == ([], ["a-crash"])


def test_the_first_stop_of_the_keyboard_skips_to_the_cases(opened):
    page = opened()
    page.keyboard.press("Tab")
    shown = page.locator(".skip-link").bounding_box()
    page.keyboard.press("Enter")

    assert shown["x"] >= 0
    assert page.url.endswith("#cases")


def test_what_is_open_and_what_is_sorted_is_told(opened):
    page = opened("#case=a-crash")
    page.click("[data-sort=slice]")
    states = page.locator("button.open").evaluate_all("all => all.map(one => one.getAttribute('aria-expanded'))")

    assert sorted(states) == ["false", "false", "true"]
    assert page.locator("th[aria-sort=ascending]").inner_text().startswith("slice")


def test_a_route_is_painted_and_said_in_words(opened):
    page = opened()
    page.locator("#row-a-crash").scroll_into_view_if_needed()
    way = page.locator("#row-a-crash .ribbon").first

    assert way.locator(".stop.hue-0").text_content() == "I"
    assert way.get_attribute("aria-label") == "investigator"


def test_the_printed_page_has_the_open_case_and_all_rows(opened):
    page = opened("#case=a-crash")
    page.wait_for_selector("#detail-a-crash .trial")
    page.emulate_media(media="print")

    assert page.pdf().startswith(b"%PDF")
    assert page.locator("nav, .tools").first.is_hidden()
    assert page.locator("#detail-a-crash .trial").first.is_visible()


def test_without_script_headline_and_table_are_there(browser, report: Path):
    context = browser.new_context(offline=True, java_script_enabled=False)
    page = context.new_page()
    page.goto(report.as_uri())
    text = page.text_content("main")
    context.close()

    assert "Nothing broke." in text
    assert "a-crash" in text
    assert "need the script in this file" in text


def test_a_browser_that_cannot_inflate_says_what_is_needed(browser, report: Path):
    context = browser.new_context(offline=True)
    context.add_init_script("delete globalThis.DecompressionStream")
    page = context.new_page()
    page.goto(report.as_uri() + "#case=a-crash")
    text = page.inner_text("#detail-a-crash .alarm")
    context.close()

    assert text.startswith("Details need a browser that can inflate them")


def test_every_part_is_put_together_as_it_was_taken_apart(opened, report: Path):
    """The script of the page and the tests' own reading of it agree; those hold against what templates print."""
    read = opened().evaluate(
        """async () => {
          const content = await unpacked();
          return content.names.map((name) => [name, read(content, name)]);
        }"""
    )

    assert [(name, part["markup"], part["texts"]) for name, part in read] == parts_of(
        content_of(report.read_text(encoding="utf-8"))
    )


def test_hostile_text_is_only_text(opened):
    page = opened("#case=c-hostile")
    shown = page.inner_text("#detail-c-hostile .body")

    assert shown == f"{HOSTILE}\nsecond line"
    assert page.title() != "owned"
    assert page.locator("img, #detail-c-hostile pre b").count() == 0


def test_a_plan_is_drawn_and_told_in_words(opened):
    boxes = opened("#case=a-crash").locator(".dag").first.locator(".task")

    assert boxes.all_inner_texts() == [
        "1 investigator\ncompleted\nwaits for nothing",
        "2 writer\ncompleted\nwaits for 1",
    ]
    assert boxes.nth(1).bounding_box()["y"] > boxes.nth(0).bounding_box()["y"]


def test_a_task_opens_to_its_history(opened):
    page = opened("#case=a-crash")
    page.locator("details.story summary").first.click()

    assert page.locator("details.story .events").first.inner_text().split() == [
        *("step", "1", "completed", "passed", "the", "review"),
    ]


@pytest.mark.parametrize("width", [390, 1440])
def test_no_width_scrolls_sideways(opened, width: int):
    page = opened("#case=a-crash")
    page.set_viewport_size({"width": width, "height": 800})

    assert page.evaluate("document.documentElement.scrollWidth") <= width

"""The report of an edited prompt in a real Chromium: from the verdict to the changed line."""

from pathlib import Path

import pytest

from evals.report.html_page import render
from tests.builders.chromium import cases_shown
from tests.builders.run import CRITIC_RULE, a_run_that_parts, a_variant_info

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def edited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three cases broke since the rule about the critic was deleted from the candidate's prompt; the reference never
    had it."""
    variants = [
        a_variant_info("v2", "Choose.\nBe brief.\n"),
        a_variant_info("v3", "Choose.\nBe brief.\n", committed=f"Choose.\n{CRITIC_RULE}\nBe brief.\n"),
    ]
    path = tmp_path_factory.mktemp("edited") / "index.html"
    path.write_text(render(a_run_that_parts("a-crash", "b-race", "c-cache", variants=variants)), encoding="utf-8")
    return path


@pytest.fixture
def shown(new_page, edited: Path):
    """The page of the edited prompt, in a window that a reader would have."""
    page = new_page(1200, 800)
    page.goto(edited.as_uri())
    return page


def test_three_clicks_lead_from_the_verdict_to_the_changed_line(shown):
    shown.click("#verdict .leads a:text-is('b-race')")
    shown.click("#detail-b-race .jump a")
    shown.click("#detail-b-race .divergence .to-line")
    line = shown.locator("#prompts tr:focus")

    assert line.locator("del").inner_text() == CRITIC_RULE
    assert line.evaluate(
        "line => { const b = line.getBoundingClientRect(); return b.top >= 0 && b.bottom <= innerHeight; }"
    )


def test_a_number_of_cases_that_got_worse_leads_to_the_filter_with_as_many(shown):
    shown.click(".deciding a.worse")

    assert cases_shown(shown) == ["a-crash", "b-race", "c-cache"]
    assert shown.url.endswith("#outcome=worse&metric=route.pass")
    assert (shown.input_value("#outcome"), shown.input_value("#metric")) == ("worse", "route.pass")


def test_a_list_can_be_searched_and_left(shown):
    shown.click("#divergences ~ .scroll a >> nth=0")
    shown.fill("#search", "race")
    narrowed = cases_shown(shown)
    shown.click("#all")

    assert narrowed == ["b-race"]
    assert len(cases_shown(shown)) == 3
    assert not shown.locator("#only").is_visible()


def test_a_deep_link_to_a_divergence_opens_it(new_page, edited: Path):
    page = new_page()
    page.goto(edited.as_uri() + "#case=a-crash/v3")
    place = page.locator("#detail-a-crash details.divergence")

    assert place.evaluate("place => place.open && place === document.activeElement")
    assert place.locator(".side .choice").all_inner_texts() == ["3 critic confidence 70 %", "3 writer confidence 70 %"]


def test_a_line_of_a_folded_diff_is_unfolded(shown):
    shown.evaluate("document.querySelectorAll('#prompts details').forEach(part => { part.open = false; })")
    name = shown.locator("#prompts tr[id]").first.get_attribute("id")
    shown.evaluate("name => { location.hash = name; }", name)

    assert shown.locator(f"#{name}").is_visible()


def test_the_verdict_leads_to_an_edit_in_one_click(shown):
    """What an edited prompt changed is the first question even where nothing of it is recorded yet."""
    shown.click("#verdict .to-edit")

    assert shown.locator("#prompts tr:focus del").inner_text() == CRITIC_RULE

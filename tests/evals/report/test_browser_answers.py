"""Raw answers and system prompts as a reader meets them in a real browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from evals.report.html_page import render
from evals.report.recorded_calls import RecordedCall
from tests.builders.chromium import cases_shown
from tests.builders.run import a_run_that_parts
from tests.builders.trace import a_call

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two cases whose variants part; every request, its system prompt and its answer are known."""
    run, trials, recorded = a_run_that_parts("a-crash", "b-race"), [], {}
    for trial in run.trials:
        trace = trial.trace
        calls = [
            a_call("router").model_copy(update={"key": f"{trace.variant} {n}"}) for n in range(len(trace.decisions))
        ]
        trials.append(trial.model_copy(update={"trace": trace.model_copy(update={"calls": tuple(calls)})}))
        words = RecordedCall(f"Obey rule <{trace.case_id}>.", "Where next?", f"if a < b: verbatim-{trace.variant}")
        recorded |= {(trace.case_id, call.key, 0): words for call in calls}
    path = tmp_path_factory.mktemp("answered") / "index.html"
    path.write_text(render(run.model_copy(update={"trials": tuple(trials)}), recorded=recorded), encoding="utf-8")
    return path


@pytest.fixture
def page(new_page, answered: Path) -> Iterator:
    """The page, which in the end has not complained."""
    page, complaints = new_page(), []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(answered.as_uri())
    yield page
    page.close()
    assert complaints == []


def test_the_first_divergence_opens_to_both_raw_answers(page):
    page.click("button.open >> nth=0")
    page.wait_for_selector(".divergence .side details.call")
    for side in page.locator(".divergence[open] .side").all():
        side.locator("summary", has_text="Raw answer").click()

    shown = page.locator(".divergence[open] .side details[open] pre").all_inner_texts()
    assert len(shown) == 2
    assert all(text.startswith("if a < b: verbatim-") for text in shown)


def test_a_trial_lists_its_model_calls_with_system_prompt_and_answer(page):
    page.click("button.open >> nth=0")
    page.locator("details.calls > summary").first.click()
    page.locator("details.calls[open] summary", has_text="System prompt").first.click()

    assert page.locator("details.calls[open] li").count() > 0
    assert page.locator("details.calls[open] details[open] pre").first.inner_text() == "Obey rule <a-crash>."


@pytest.mark.parametrize(("word", "cases"), [("verbatim-", ["a-crash", "b-race"]), ("<b-race>", ["b-race"])])
def test_the_search_finds_words_of_raw_answers_and_of_system_prompts(page, word, cases):
    page.fill("#search", word)
    page.wait_for_timeout(300)

    assert cases_shown(page) == cases

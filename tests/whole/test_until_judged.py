"""`evals record --until-judged` asks until no missing answer could change the verdict; `run` then gives it."""

import shutil

import pytest

from tests.builders.checkout import ISSUE, LABELS, a_checkout, evals
from tests.builders.dataset import a_case_file, a_case_folder, write
from tests.builders.llm_server import an_llm_server, answering

pytestmark = pytest.mark.slow
EDITED = "Ask the web."
GOOD, ASTRAY = answering(), answering(route=("investigator", "web_search", "critic", "writer"))


def candidate_astray(agent, body):
    """The candidate's edited prompt leads past the code; everybody else works as before."""
    return (ASTRAY if EDITED in str(body["messages"]) else GOOD)(agent, body)


@pytest.fixture(scope="module")
def blessed(tmp_path_factory):
    """Recorded and blessed; one of the two cases must pass."""
    checkout = a_checkout(tmp_path_factory.mktemp("until") / "checkout")
    a_case_folder(checkout / "datasets", a_case_file(id="wrong-sum", must_pass=True, **LABELS), issue=ISSUE)
    with an_llm_server() as llm:
        for words in (("record", "tiny.yaml", "--base-url", llm.base_url), ("bless", "tiny.yaml")):
            said = evals(checkout, *words)
            assert said.code == 0, said.err
    return checkout


@pytest.fixture
def edited(blessed, tmp_path):
    """A copy in which the candidate's prompt was edited, so that nothing of the candidate is recorded."""
    checkout = shutil.copytree(blessed, tmp_path / "checkout")
    prompt = checkout / "mine.md"
    write(prompt, prompt.read_text(encoding="utf-8") + f"\n{EDITED}\n")
    return checkout


def recorded(checkout, *words, answer=candidate_astray):
    with an_llm_server(answer) as llm:
        settings = ("--until-judged", "--base-url", llm.base_url, "--set", "concurrency=1")
        return evals(checkout, "record", "tiny.yaml", *settings, *words)


def test_a_case_that_must_pass_is_asked_first_and_ends_the_recording(edited):
    said = recorded(edited)

    assert (said.code, "Traceback" in said.err) == (0, False)
    assert "wrong-sum must pass, and route.pass fails under new" in said.out
    assert "1 trial of new is not recorded; it cannot change the verdict." in said.out
    assert "Report: `evals run tiny.yaml`. To bless it, record the rest, without --until-judged." in said.out


def test_a_run_gives_the_verdict_and_cannot_be_blessed(edited):
    recorded(edited)

    run, bless = evals(edited, "run", "tiny.yaml"), evals(edited, "bless", "tiny.yaml", "--worse", "we want it so")

    assert run.code == 1
    assert "1 trial of new is not recorded; it cannot change the verdict" in run.out
    assert (edited / "reports/latest/index.html").read_text(encoding="utf-8").count("cannot change the verdict") >= 1
    assert bless.code == 3
    assert "new is recorded in 1 of 2 trials; record the rest, or take it out of the suite" in bless.err


def test_a_limit_leaves_a_verdict_open_and_says_how_far(edited):
    said = recorded(edited, "--max-requests", "3")

    assert said.code == 3
    assert "No verdict yet, 2 trials missing. new against old, once all is recorded: route.pass -100 points" in said.out


def test_everything_is_asked_where_every_answer_may_count(edited):
    said = recorded(edited, answer=GOOD)

    assert (said.code, "not recorded (" in said.out, "To bless it" in said.out) == (0, False, False)


def test_a_suite_without_a_baseline_has_to_be_recorded_whole(tmp_path):
    said = recorded(a_checkout(tmp_path))

    assert said.code == 3
    assert "no answer changes this: tiny has no baseline yet" in said.err
    assert "leave --until-judged out to record all" in said.err


@pytest.mark.parametrize(
    "words", [("--case", "wrong-sum"), ("--refresh",), ("--export", "rounds"), ("--judge",)], ids=" ".join
)
def test_what_does_not_go_with_it_is_one_line(edited, words):
    said = recorded(edited, *words)

    assert said.code == 2
    assert f"{words[0]} and --until-judged" in said.err


def test_a_suite_that_limits_costs_is_judged_when_all_is_recorded(edited):
    suite = edited / "tiny.yaml"
    write(suite, suite.read_text(encoding="utf-8") + "gate: {cost: {tokens: +10 %}}\n")

    said = recorded(edited)

    assert (said.code, "gate.cost needs a full recording; leave --until-judged out" in said.err) == (2, True)

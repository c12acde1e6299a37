"""Trials of a changed cassette: those whose answers are all as they were are not run again."""

import json

import pytest

from evals.cassettes.cassette_data import Cassette
from evals.cassettes.cassette_files import load, rendered
from evals.cassettes.manifest import enter
from tests.builders.checkout import evals
from tests.builders.llm_server import an_llm_server

pytestmark = pytest.mark.slow


def trials(checkout):
    """The trials of the last run, without the words of the run around them."""
    return json.loads((checkout / "reports" / "latest" / "run.json").read_bytes())["trials"]


def reused(said):
    (line,) = [line for line in said.out.splitlines() if "reused unchanged" in line]
    return line.partition(". Report")[0].partition(" s, ")[2]


@pytest.fixture
def rerecorded(checkout):
    """The candidate's prompt was edited, and recorded again: the cassette of every case is another file."""
    prompt = checkout / "mine.md"
    prompt.write_text(prompt.read_text() + "Be brief.\n")
    with an_llm_server() as llm:
        assert evals(checkout, "record", "tiny.yaml", "--base-url", llm.base_url).code == 0
    return checkout


def test_a_variant_that_was_not_edited_is_reused_and_what_is_told_is_that_of_a_fresh_run(rerecorded):
    said = evals(rerecorded, "run", "tiny.yaml")
    first = trials(rerecorded)
    evals(rerecorded, "run", "tiny.yaml", "--fresh")

    assert reused(said) == "2 reused unchanged"
    assert trials(rerecorded) == first


def edited(path, change):
    """The cassette with `change(interaction)` in place of each; still one that is trusted."""
    found = load(path)
    path.write_text(rendered(Cassette(path, [change(each) for each in found.interactions], tree=found.tree)))
    enter(path)


def test_a_trial_whose_answer_has_changed_is_run_again(checkout):
    """In one of the two cases the critic says something else, and took longer to say it."""
    path = checkout / "cassettes" / "wrong-sum.yaml"

    def other(found):
        if found.agent != "critic":
            return found
        told = json.loads(json.dumps(found.response).replace("visible", "plain"))
        return found.model_copy(update={"response": told, "latency_ms": found.latency_ms + 5})

    edited(path, other)
    said = evals(checkout, "run", "tiny.yaml")
    ran = trials(checkout)
    evals(checkout, "run", "tiny.yaml", "--fresh")

    assert reused(said) == "2 reused unchanged"  # those of the other case
    assert trials(checkout) == ran


def test_a_trial_is_run_again_when_an_answer_of_it_is_gone(checkout):
    path = checkout / "cassettes" / "wrong-sum.yaml"
    found = load(path)
    path.write_text(rendered(Cassette(path, [each for each in found.interactions if each.agent != "critic"])))
    enter(path)

    said = evals(checkout, "run", "tiny.yaml")

    assert said.code == 3
    assert reused(said) == "2 reused unchanged"
    assert {trial["trace"]["provenance"]["label"] for trial in trials(checkout)} == {"exact", "frontier"}


def test_a_fresh_run_reuses_nothing(checkout):
    path = checkout / "cassettes" / "wrong-sum.yaml"
    edited(path, lambda found: found.model_copy(update={"recorded_at": "2026-01-01T00:00:00+00:00"}))

    assert reused(evals(checkout, "run", "tiny.yaml", "--fresh")) == "0 reused unchanged"

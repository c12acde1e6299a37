"""`replayed(case)` in an ordinary test: a trial's trace, the graph to be called, one agent; and what it refuses."""

import asyncio
import urllib.request
from pathlib import Path

import pytest
import yaml

import triage.prompts
from evals.errors import CannotJudgeError, ConfigurationError, MissError
from evals.suites.suite_files import read_suite

CASE = "stockroom-random-403"
HELD_OUT = "coldshelf-november-snapshots"
ROUTE = ("investigator", "codebase_search", "human_input", "writer")


def test_a_trial_is_there_with_all_it_did(replayed):
    assert replayed(CASE, variant="v6").trace.route == ROUTE


async def test_a_trial_is_there_where_a_loop_is_running(replayed):
    assert replayed(CASE).trace.variant == "v6"


def test_the_graph_is_called_as_ever_and_stops_at_its_question(replayed):
    with replayed(CASE, variant="v6").on_tape() as tape:
        state = asyncio.run(tape.graph.ainvoke(tape.state, tape.config))

    assert state["__interrupt__"]
    assert tuple(state["visits"]) == ROUTE[:2]


async def test_one_agent_is_asked_alone(replayed):
    with replayed(CASE).on_tape() as tape:
        update = await tape.visit("investigator")

    assert [finding.agent_name for finding in update["findings"]] == ["investigator"]
    assert len(tape.ledger.served) == 1


async def test_what_nobody_recorded_is_an_error_that_names_the_command(replayed):
    with (
        pytest.raises(MissError, match=r"(?s)supervisor .* asked .*: not on the tape; .*make record SUITE=prompts"),
        replayed(CASE).on_tape() as tape,
    ):
        await tape.graph.ainvoke(tape.state.model_copy(update={"issue_title": "Another"}), tape.config)


@pytest.mark.vcr
@pytest.mark.block_network
async def test_it_goes_with_the_marks_of_pytest_recording(replayed):
    """Their cassette is for what a test asks by other ways; ours answers the graph, and neither sees the other's."""
    with replayed(CASE).on_tape() as tape:
        await tape.visit("investigator")
        with pytest.raises(Exception, match=r"Can't play back this request|Can't overwrite"):
            await asyncio.to_thread(urllib.request.urlopen, "http://127.0.0.1:9/")

    assert len(tape.ledger.served) == 1


WRONG = {
    "case": ({"case": "nosuch"}, ConfigurationError, "no such case: nosuch"),
    "variant": ({"case": CASE, "variant": "v9"}, ConfigurationError, "no variant v9"),
    "suite": ({"case": CASE, "suite": "nosuch"}, ConfigurationError, "no suite 'nosuch'"),
    "sample": ({"case": CASE, "sample": 1}, ConfigurationError, "sample 1: prompts has 1"),
}


@pytest.mark.parametrize(("named", "error", "cause"), WRONG.values(), ids=WRONG)
def test_what_is_not_there_is_named(replayed, named, error, cause):
    with pytest.raises(error, match=cause):
        replayed(**named)


async def test_an_agent_that_is_none_is_named_with_those_there_are(replayed):
    with replayed(CASE).on_tape() as tape, pytest.raises(ConfigurationError, match=r"no agent 'boss'; name one of inv"):
        await tape.visit("boss")


def test_a_held_out_case_is_not_looked_at(replayed):
    with pytest.raises(CannotJudgeError, match="held out"):
        replayed(HELD_OUT)


def test_a_trial_that_is_not_on_the_tape_names_the_command(replayed, tmp_path):
    """With other words in the prompt there is no answer to any decision."""
    shipped = Path(triage.prompts.__file__).parent / "supervisor" / "v6.md"
    (tmp_path / "mine.md").write_text(shipped.read_text() + "\nBe brief.\n")
    suite = {
        "name": "mine",
        "description": "v6 against itself, with three more words.",
        "cases": {"ids": [CASE]},
        "models": read_suite("prompts").models.model_dump(mode="json", exclude_none=True),
        "variants": [{"name": "v6", "prompt": "v6"}, {"name": "mine", "prompt": str(tmp_path / "mine.md")}],
        "candidate": "mine",
        "reference": "v6",
    }
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(suite))

    with pytest.raises(
        CannotJudgeError, match=r"unrecorded: nobody recorded what was asked; .*`make record SUITE=.*mine"
    ):
        _ = replayed(CASE, suite=str(tmp_path / "mine.yaml")).trace

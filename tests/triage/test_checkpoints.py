"""Jobs in a real SQLite file: left, and resumed under another prompt, another schema, another process."""

import asyncio
import logging

import pytest
from langgraph.types import Command

from tests.builders.endpoint import a_decision, a_team, a_toolbox
from tests.builders.forked import Forked
from tests.builders.schema_1 import a_job_stored_under_schema_1
from tests.builders.state import a_rejection, a_state, an_exchange
from triage.checkpoints import open_jobs, serializer
from triage.errors import CheckpointError
from triage.graph import build_graph
from triage.graph_configuration import Configuration
from triage.prompts.load import load_supervisor_prompt
from triage.state import CURRENT_SCHEMA_VERSION, BugTriageState, HumanExchange

JOB = {"configurable": {"thread_id": "job-1"}}
ASK = a_decision("human_input", question="Which database?")


def a_graph(team, saver, prompt="v3"):
    return build_graph(Configuration(prompt=load_supervisor_prompt(prompt)), a_toolbox(team), saver)


async def a_job_left_at_a_question(path, prompt="v3"):
    async with open_jobs(path) as jobs:
        await a_graph(a_team("investigator", ASK), jobs, prompt).ainvoke(a_state(), JOB)


async def resumed(path, team, given, prompt="v3") -> BugTriageState:
    async with open_jobs(path) as jobs:
        return BugTriageState.model_validate(await a_graph(team, jobs, prompt).ainvoke(given, JOB))


async def test_a_job_left_at_a_question_goes_on_with_the_answer(tmp_path):
    await a_job_left_at_a_question(tmp_path / "jobs.sqlite")
    job = await resumed(tmp_path / "jobs.sqlite", a_team("writer"), Command(resume="MySQL"))

    assert job.visits == ["investigator", "human_input", "writer"]
    assert job.human_exchanges == [an_exchange("MySQL", context="")]


async def test_a_job_begun_under_an_older_prompt_goes_on_under_the_new_one(tmp_path):
    await a_job_left_at_a_question(tmp_path / "jobs.sqlite", prompt="v1")
    team = a_team("writer")
    job = await resumed(tmp_path / "jobs.sqlite", team, Command(resume="MySQL"), prompt="v3")

    assert job.visits[-1] == "writer"
    assert team.messages("supervisor")[0] == load_supervisor_prompt("v3").system


async def test_prompts_are_never_stored(tmp_path):
    await a_job_left_at_a_question(tmp_path / "jobs.sqlite")
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())

    assert b"Cart total is wrong" in stored
    assert b"You lead a team" not in stored


async def test_a_job_of_schema_1_waiting_for_an_answer_goes_on(tmp_path):
    await a_job_stored_under_schema_1(tmp_path / "jobs.sqlite", JOB, "human_input")
    job = await resumed(tmp_path / "jobs.sqlite", a_team("writer"), Command(resume="MySQL"))

    assert job.schema_version == CURRENT_SCHEMA_VERSION
    assert job.visits == ["investigator", "critic", "human_input", "writer"]
    assert job.human_exchanges == [an_exchange("MySQL", context="")]
    assert job.iterations == 4


async def test_a_job_of_schema_1_left_between_two_steps_goes_on(tmp_path):
    await a_job_stored_under_schema_1(tmp_path / "jobs.sqlite", JOB, "codebase_search")
    job = await resumed(tmp_path / "jobs.sqlite", a_team("writer"), None)

    assert job.visits == ["investigator", "critic", "codebase_search", "writer"]


async def test_a_rejection_of_schema_1_still_binds(tmp_path):
    """Nothing landed after it, so a job that wants to write is sent back to investigate."""
    await a_job_stored_under_schema_1(tmp_path / "jobs.sqlite", JOB, "codebase_search")
    team = a_team("writer", codebase_search=[500])
    job = await resumed(tmp_path / "jobs.sqlite", team, None)

    assert job.visits == ["investigator", "critic", "codebase_search", "investigator", "writer"]


async def test_once_resumed_a_job_is_stored_in_the_current_schema(tmp_path):
    await a_job_stored_under_schema_1(tmp_path / "jobs.sqlite", JOB, "codebase_search")
    await resumed(tmp_path / "jobs.sqlite", a_team("writer"), None)
    async with open_jobs(tmp_path / "jobs.sqlite") as jobs:
        raw = await super(type(jobs), jobs).aget_tuple(JOB)

    assert raw.checkpoint["channel_values"]["schema_version"] == CURRENT_SCHEMA_VERSION


async def test_a_job_of_a_newer_schema_is_refused(tmp_path):
    async with open_jobs(tmp_path / "jobs.sqlite") as jobs:
        graph = a_graph(a_team("investigator", ASK), jobs)
        await graph.ainvoke(a_state(), JOB)
        await graph.aupdate_state(JOB, {"schema_version": 99}, as_node="investigator")
    with pytest.raises(CheckpointError, match="schema 99"):
        await resumed(tmp_path / "jobs.sqlite", a_team("writer"), None)


def test_the_states_own_types_survive_the_serialiser(caplog):
    kept = [an_exchange(), a_rejection(), a_state()]
    stored = serializer()

    with caplog.at_level(logging.WARNING):
        assert [stored.loads_typed(stored.dumps_typed(value)) for value in kept] == kept
    assert caplog.records == []


def test_any_other_type_is_not_rebuilt():
    """A file somebody tampered with can name any class; only the state's own are imported."""
    stored = serializer()
    foreign = Configuration(prompt=load_supervisor_prompt("v1"))

    assert not isinstance(stored.loads_typed(stored.dumps_typed(foreign)), Configuration)


@pytest.mark.slow
async def test_another_process_can_read_the_question(tmp_path):
    await a_job_left_at_a_question(tmp_path / "jobs.sqlite")

    out, err = Forked(the_question_of, tmp_path / "jobs.sqlite", cwd=tmp_path).communicate()

    assert out.strip() == repr(HumanExchange(question="Which database?"))
    assert err == ""


def the_question_of(path):
    """In a process of its own: what the job there waits for."""

    async def told():
        async with open_jobs(path) as jobs:
            graph = build_graph(Configuration(load_supervisor_prompt("v3")), a_toolbox(a_team("end")), jobs)
            snapshot = await graph.aget_state(JOB)
            print(repr(snapshot.tasks[0].interrupts[0].value))

    asyncio.run(told())
    return 0

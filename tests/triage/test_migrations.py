"""The migration table: plain data in an old schema becomes plain data in the current one, or is refused clearly."""

import pytest

from triage.checkpoints import MIGRATIONS, migrate
from triage.errors import CheckpointError
from triage.state import CURRENT_SCHEMA_VERSION, BugTriageState


def a_stored_state(**fields):
    """A job in schema 1."""
    return {"schema_version": 1, "issue_title": "t", "issue_body": "b", "current_node": "", "iterations": 0, **fields}


def a_stored_finding(agent_name):
    return {"agent_name": agent_name, "summary": "s", "confidence": 0.5, "details": "d", "relevant_files": []}


def test_there_is_a_step_from_every_older_schema():
    assert set(MIGRATIONS) == set(range(1, CURRENT_SCHEMA_VERSION))


def test_the_result_is_a_state_of_today():
    state = BugTriageState.model_validate(migrate(a_stored_state()))

    assert state.schema_version == CURRENT_SCHEMA_VERSION


def test_visits_are_read_off_findings_and_answers():
    found = [a_stored_finding("investigator"), a_stored_finding("critic")]
    state = migrate(a_stored_state(findings=found, human_exchanges=[{"question": "q", "answer": "a"}]))

    assert state["visits"] == ["investigator", "critic", "human_input"]


def test_visits_that_were_never_counted_are_counted_now():
    found = [a_stored_finding("investigator"), a_stored_finding("critic")]

    assert migrate(a_stored_state(findings=found, iterations=1))["iterations"] == 2


def test_failed_visits_that_were_counted_stay_counted():
    assert migrate(a_stored_state(findings=[a_stored_finding("investigator")], iterations=3))["iterations"] == 3


def test_an_old_rejection_binds_until_something_lands_after_it():
    found = [a_stored_finding(name) for name in ("investigator", "critic", "codebase_search")]
    verdict = {"verdict": "REJECTED", "confidence": 0.3}

    assert migrate(a_stored_state(findings=found, critic_feedback=verdict))["critic_feedback"]["evidence_seen"] == 2


def test_a_newer_schema_is_refused():
    with pytest.raises(CheckpointError, match=r"schema 7 and this triage reads up to 6: upgrade triage"):
        migrate(a_stored_state(schema_version=7))


@pytest.mark.parametrize("version", [0, -1, "two", None])
def test_a_schema_that_never_was_is_refused(version):
    with pytest.raises(CheckpointError, match="never was"):
        migrate(a_stored_state(schema_version=version))


def test_a_job_of_schema_three_has_read_nothing_that_anybody_knows_of():
    before = a_stored_state(schema_version=3, current_node=None)
    del before["current_node"]
    state = BugTriageState.model_validate(migrate(before))

    assert (state.schema_version, state.places_read, state.web_queries, state.pages_read) == (
        CURRENT_SCHEMA_VERSION,
        [],
        [],
        [],
    )

"""The guards of the registry supervisor: required data, and loops; behind every set but `none`."""

import pytest

from tests.builders.state import a_finding, a_report, a_state
from triage.guards.guard import rule
from triage.guards.guard_sets import REGISTRY_GUARDS, SETS, guard_set
from triage.state import WORKERS

KNOWN = {"findings": [a_finding()], "iterations": 1}


def route(choice, **fields):
    return rule(REGISTRY_GUARDS, a_state(**fields), choice).routed


@pytest.mark.parametrize("choice", [worker for worker in WORKERS if worker != "investigator"])
def test_without_a_hypothesis_everybody_gives_way_to_the_investigator(choice):
    assert route(choice) == "investigator"


@pytest.mark.parametrize("choice", [*WORKERS, "end"])
def test_with_a_hypothesis_every_choice_stands(choice):
    assert route(choice, **KNOWN) == choice


def test_a_flagged_provider_is_not_waited_for():
    """An investigator that failed twice will not deliver; the choice goes on without it."""
    assert route("codebase_search", visits=["investigator", "investigator"]) == "codebase_search"


def test_an_agent_may_be_called_a_second_time():
    assert route("codebase_search", visits=["investigator", "codebase_search"], **KNOWN) == "codebase_search"


def test_a_third_call_goes_to_the_first_check_that_has_not_run():
    visits = ["investigator", "codebase_search", "codebase_search"]

    assert route("codebase_search", visits=visits, **KNOWN) == "web_search"
    assert route("codebase_search", visits=[*visits, "web_search"], **KNOWN) == "critic"


def test_a_third_call_with_all_checks_done_goes_to_the_writer():
    visits = ["investigator", "codebase_search", "codebase_search", "web_search", "critic"]

    assert route("codebase_search", visits=visits, **KNOWN) == "writer"


def test_a_looping_investigator_does_not_lead_to_agents_that_need_it():
    assert route("investigator", visits=["investigator", "investigator"]) == "writer"


def test_a_looping_writer_is_sent_home():
    assert route("writer", visits=["writer", "writer"], **KNOWN) == "end"
    assert route("writer", visits=["writer", "writer"], report=a_report(), **KNOWN) == "end"


def test_a_loop_after_the_report_ends_the_job():
    assert route("critic", visits=["critic", "critic", "writer"], report=a_report(), **KNOWN) == "end"


def test_a_veto_is_recorded_under_the_guards_name():
    state = a_state(visits=["critic", "critic"], **KNOWN)

    assert rule(REGISTRY_GUARDS, state, "critic").veto.guard == "loop_guard"
    assert rule(REGISTRY_GUARDS, a_state(), "critic").veto.guard == "requires_met"


@pytest.mark.parametrize("name", [name for name in SETS if name != "none"])
def test_they_come_with_every_set_and_speak_last(name):
    assert guard_set(name, supervisor="registry").guards == (*guard_set(name).guards, *REGISTRY_GUARDS)


def test_they_do_not_come_without_guards():
    assert guard_set("none", supervisor="registry").guards == ()


@pytest.mark.parametrize("supervisor", ["llm", "rules"])
def test_they_bind_no_other_supervisor(supervisor):
    assert not set(REGISTRY_GUARDS) & set(guard_set("hardened", supervisor=supervisor).guards)


def test_the_limit_has_the_first_word():
    state = a_state(iterations=10, max_iterations=10, visits=["writer", "writer"], findings=[a_finding()])

    assert rule(guard_set("hardened", supervisor="registry").guards, state, "critic").routed == "writer"

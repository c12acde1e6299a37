"""The guards of the registry supervisor: required data, and loops; behind every set but `none`."""

import pytest

from tests.builders.state import a_finding, a_report, a_state
from triage.guards.guard_sets import REGISTRY_GUARDS, SETS, guard_set
from triage.guards.guards import rule

KNOWN = {"findings": [a_finding()], "iterations": 1}


def route(choice, **fields):
    return rule(REGISTRY_GUARDS, a_state(**fields), choice).routed


def test_a_looping_writer_is_sent_home():
    assert route("writer", visits=["writer", "writer"], **KNOWN) == "end"
    assert route("writer", visits=["writer", "writer"], report=a_report(), **KNOWN) == "end"


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

"""Why a route passes or fails, rule by rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.models.case import RouteReading
from evals.routes.route_check import check, why
from tests.builders.case import NODES, a_constraint, a_spec, an_alternative

SURE = {"confidence_before_writer": 0.9}
SHORT = ("investigator", "codebase_search", "writer")
routes = st.lists(st.sampled_from(NODES), max_size=12)
states = st.fixed_dictionaries({}, optional={"confidence_before_writer": st.floats(0, 1)})


def read(*visits: str, state: dict[str, float | None] | None = None) -> RouteReading:
    """A route against the local bug's specification, the supervisor unsure unless the test says otherwise."""
    return why(a_spec(), visits, {"confidence_before_writer": 0.7} if state is None else state)


def test_a_soft_rule_that_takes_the_fitness_below_the_mark_decides_alone():
    found = read("investigator", "codebase_search", "critic", "writer", state=SURE)

    assert (found.breaks, found.decides) == (("P2b",), ("P2b",))


def test_a_hard_rule_decides_alone_where_nothing_else_is_wrong():
    assert read("investigator", "codebase_search", "writer").decides == ("P2",)


def test_of_two_broken_hard_rules_neither_decides_alone():
    found = read("investigator", "writer")

    assert (found.breaks, found.decides) == (("P2", "must:codebase_search"), ())


def test_any_one_of_two_soft_rules_may_decide():
    soft = [a_constraint("existence", [node], min=1, id=node) for node in ("critic", "web_search")]
    heavy = a_constraint("init", id="first", w=17)
    spec = a_spec(an_alternative(heavy, *soft, a_constraint("end", ["writer"], id="end", w=0.1)))

    assert why(spec, SHORT, {}).decides == ("critic", "web_search")


def test_a_route_of_which_only_the_length_is_wrong_fails_by_its_length():
    way = ("investigator", "codebase_search", "codebase_search", "codebase_search", "critic", "writer")
    found = read(*way)

    assert (found.breaks, found.decides) == (("steps.max",), ("steps.max",))


def test_to_keep_the_hard_limit_is_not_enough_where_the_own_one_is_lower():
    found = read("investigator", *["codebase_search"] * 8, "critic", "writer")

    assert (found.breaks, found.decides) == (("steps.max", "hard_max"), ("steps.max",))


def test_a_rule_is_vacuous_where_its_guard_does_not_hold():
    found = read(*SHORT, state=SURE)

    assert found.shares[:3] == (1.0, "vacuous", 1.0)


def test_a_rule_is_unknown_where_its_guard_reads_what_was_not_recorded():
    assert read(*SHORT, state={}).shares[1:3] == ("unknown", "unknown")


@pytest.mark.parametrize("state", [SURE, {}])
def test_what_the_guards_found_is_told_by_field(state):
    assert read(*SHORT, state=state).read == {"confidence": state.get("confidence_before_writer")}


def test_the_alternative_that_counts_is_the_one_that_is_read():
    asking = an_alternative(a_constraint("existence", ["human_input"], min=1, hard=True, id="ask"))
    spec = a_spec(asking, an_alternative())

    assert why(spec, ("investigator", "codebase_search", "critic", "writer"), {}).alternative == 1


@given(visits=routes, state=states)
def test_a_route_that_passes_is_decided_by_nothing_and_one_that_fails_breaks_something(visits, state):
    found, score = why(a_spec(), visits, state), check(a_spec(), visits, state)

    assert bool(found.breaks) >= (not score.passed)
    assert not (score.passed and found.decides)


@given(visits=routes, state=states)
def test_what_decides_is_broken_and_so_is_every_hard_violation(visits, state):
    found, score = why(a_spec(), visits, state), check(a_spec(), visits, state)

    assert set(found.decides) | set(score.hard) <= set(found.breaks)

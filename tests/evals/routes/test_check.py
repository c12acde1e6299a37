"""One route against one specification."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.errors import ConfigurationError
from evals.models.case import RouteSpec
from evals.routes.route_check import check
from evals.triage.dataset.route_strictness import UNSURE
from tests.builders.case import NODES, a_constraint, a_spec, an_alternative, case_constraints, policy_constraints

GOLD = json.loads((Path(__file__).parents[2] / "gold" / "route-examples.json").read_text(encoding="utf-8"))
HONEST = ("investigator", "codebase_search", "critic", "writer")
routes = st.lists(st.sampled_from(NODES), max_size=12)
walks = st.lists(st.lists(st.sampled_from(NODES), min_size=1, max_size=4), max_size=6)
chance = st.randoms(use_true_random=False)
states = st.fixed_dictionaries({}, optional={"confidence_before_writer": st.floats(0, 1)})


def gold_spec(example: dict) -> RouteSpec:
    fields = {"name": example["name"], "node_caps": GOLD["node_caps"], "alternatives": example["alternatives"]}
    return RouteSpec.model_validate(fields)


EXAMPLES = [(gold_spec(example), trace) for example in GOLD["examples"] for trace in example["traces"]]
GOLD_SPECS = [gold_spec(example) for example in GOLD["examples"]]


@pytest.mark.parametrize(("spec", "trace"), EXAMPLES, ids=lambda value: getattr(value, "name", ""))
def test_every_worked_example_comes_out_to_four_decimals(spec, trace):
    score = check(spec, trace["visits"], trace["state"]).model_dump(by_alias=True, mode="json")

    rounded = {name: round(v, 4) if isinstance(v, float) else v for name, v in score.items()}
    assert {name: rounded[name] for name in trace["expected"]} == trace["expected"]


def test_all_sixteen_worked_examples_are_there():
    assert len(EXAMPLES) == 16


@given(spec=st.sampled_from(GOLD_SPECS), visits=routes, state=states)
def test_every_number_stays_between_nought_and_one(spec, visits, state):
    score = check(spec, visits, state)

    assert all(0 <= number <= 1 for number in (score.F, score.P, score.E, score.A, score.raw, score.R))


@given(visits=routes)
def test_a_vacuous_constraint_never_changes_the_score(visits):
    """Nobody is asked twice as often as needed by padding a specification with rules that do not apply."""
    padding = a_constraint("absence", NODES, if_={"confidence": (">", 1.0)}, w=50, hard=True, id="padding")
    padded = a_spec(an_alternative(*policy_constraints(), *case_constraints(), padding))

    assert check(padded, visits, UNSURE) == check(a_spec(), visits, UNSURE)


@given(spec=st.sampled_from(GOLD_SPECS), visits=routes, node=st.sampled_from(NODES))
def test_a_visit_after_the_writer_always_costs_a_passing_route(spec, visits, node):
    route = [*visits, "writer"]
    before = check(spec, route, UNSURE)

    assert not before.passed or check(spec, [*route, node], UNSURE).R < before.R


@given(spec=st.sampled_from(GOLD_SPECS), visits=routes, cuts=st.lists(st.integers(0, 1), min_size=12, max_size=12))
def test_running_visits_side_by_side_never_lowers_fitness(spec, visits, cuts):
    """More orders are possible then, never fewer."""
    supersteps = [sum(cuts[: i + 1]) for i in range(len(visits))]
    (alone,) = spec.alternatives[:1]
    single = spec.model_copy(update={"alternatives": (alone,)})

    assert check(single, visits, UNSURE, supersteps).F >= check(single, visits, UNSURE).F - 1e-12


@given(spec=st.sampled_from(GOLD_SPECS), walk=walks, state=states, chance=chance)
def test_the_order_inside_a_superstep_changes_no_number_and_no_verdict(spec, walk, state, chance):
    """R, pass, the hard rules broken, and alignment: visits side by side have no order."""
    supersteps = [step for step, group in enumerate(walk) for _ in group]
    listed, shuffled = (
        [node for group in groups for node in group]
        for groups in (walk, [chance.sample(group, len(group)) for group in walk])
    )

    assert check(spec, shuffled, state, supersteps) == check(spec, listed, state, supersteps)


def test_a_hard_violation_halves_the_score():
    score = check(a_spec(), ["investigator", "codebase_search", "writer"], UNSURE)

    assert (score.H, score.hard, score.R) == (0, ("P2",), score.raw / 2)


@pytest.mark.parametrize("hard", [True, False])
def test_a_hard_violation_fails_a_route_however_little_it_weighs(hard):
    slight = a_constraint("absence", ("critic",), w=0.1, hard=hard, id="slight")
    score = check(a_spec(an_alternative(*policy_constraints(), *case_constraints(), slight)), HONEST, UNSURE)

    assert score.F >= 0.9
    assert score.passed is not hard


def test_eleven_visits_are_a_hard_violation_whatever_the_rules_say():
    loose = a_spec(an_alternative(a_constraint(hard=True), target=20, max_steps=20, node_max={"investigator": 20}))

    assert check(loose, ["investigator"] * 11, UNSURE).hard == ("hard_max",)


def test_a_long_route_fails_even_where_every_rule_holds():
    spec = a_spec(an_alternative(a_constraint(), target=1, max_steps=2, node_max={"investigator": 9}))
    score = check(spec, ["investigator"] * 3, UNSURE)

    assert (score.F, score.H, score.passed) == (1.0, 1, False)


def test_a_guard_on_a_missing_field_leaves_its_constraint_out_and_lists_it():
    score = check(a_spec(), HONEST, {})

    assert score.unknown == ("P2", "P2b")
    assert score.F == 1.0


def test_a_route_without_visits_earns_no_precision_and_does_not_pass():
    score = check(a_spec(), [], UNSURE)

    assert (score.P, score.passed, score.A) == (0.0, False, 0.0)


def test_the_critic_beside_the_writer_counts_as_before_it():
    score = check(a_spec(), HONEST, UNSURE, supersteps=[0, 1, 2, 2])

    assert score.passed


def test_two_writers_side_by_side_are_one_too_many():
    score = check(a_spec(), [*HONEST, "writer"], UNSURE, supersteps=[0, 1, 2, 3, 3])

    assert set(score.hard) == {"P4", "P5"}


def test_a_visit_beside_the_writer_is_not_after_it():
    beside = check(a_spec(), ["investigator", "writer", "codebase_search"], UNSURE, supersteps=[0, 1, 1])

    assert beside.P == 1.0


def test_the_best_alternative_counts_and_is_named():
    strict = an_alternative(a_constraint("init", ["web_search"], hard=True))
    spec = a_spec(strict, an_alternative())

    assert check(spec, HONEST, UNSURE).alternative == 1


def test_supersteps_that_do_not_fit_the_visits_are_refused():
    with pytest.raises(ConfigurationError, match="4 visits but 2 supersteps"):
        check(a_spec(), HONEST, UNSURE, supersteps=[0, 1])


def test_supersteps_that_go_backwards_are_refused():
    with pytest.raises(ConfigurationError, match="backwards"):
        check(a_spec(), HONEST, UNSURE, supersteps=[0, 2, 1, 3])

"""What two sides have in common, and what the rest could still change."""

import pytest

from evals.comparison.paired_comparison import bounds, by_case, paired, together, weights
from evals.scoring.route_scorers import State
from evals.statistics.intervals import macro_mean

SEARCHES = [State(f"case-{n}", "p", "codebase_search") for n in range(3)]
WRITER = State("case-0", "q", "writer")


def test_only_what_both_sides_have_is_paired():
    assert [pair.state.case_id for pair in paired({"a": 1.0, "b": 0.0}, {"b": 1.0, "c": 1.0})] == ["b"]


def test_cases_all_weigh_exactly_one():
    assert weights([State(str(n)) for n in range(49)]) == [1.0] * 49


def test_the_mean_change_of_states_is_the_difference_of_macro_averages():
    was, now = [1.0, 1.0, 0.0, 1.0], [0.0, 1.0, 0.5, 0.0]
    states = [*SEARCHES, WRITER]
    pairs = paired(dict(zip(states, now, strict=True)), dict(zip(states, was, strict=True)))
    nodes = [state.gold for state in states]

    expected = macro_mean(now, nodes) - macro_mean(was, nodes)
    assert sum(pair.change for pair in pairs) / len(pairs) == pytest.approx(expected)


def test_what_a_case_lost_in_one_state_it_may_win_in_another():
    """The writer's state counts three times as much as one of the three searches."""
    states = dict.fromkeys([*SEARCHES, WRITER], 0.0)
    pairs = paired({**states, WRITER: 1.0}, {**states, SEARCHES[0]: 1.0})

    assert by_case(pairs)["case-0"] == pytest.approx(2 - 2 / 3)


def test_the_bounds_take_the_rest_as_lost_and_as_gained():
    """One case of two is known, and equal."""
    assert bounds(paired({"a": 1.0}, {"a": 1.0}), {State("b"): 1.0}) == (-0.5, 0.5)


def test_the_bounds_weigh_gold_nodes_alike():
    """The only answer for the writer is unknown, and it is half of the macro-average."""
    known = dict.fromkeys(SEARCHES, 1.0)

    assert bounds(paired(known, known), {WRITER: 1.0}) == pytest.approx((-0.5, 0.5))


def test_a_sample_off_the_tape_bounds_its_share_of_the_case():
    """One of two samples of one case of two: a quarter of the whole."""
    pairs = paired({"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 1.0})

    assert bounds(pairs, {State("b"): 0.5}) == (-0.25, 0.25)


def test_what_either_side_lost_is_lost_to_the_pair():
    a, b = State("a"), State("b")

    assert together([{a: 0.5}, {a: 0.75, b: 0.5}]) == {a: 1.0, b: 0.5}


def test_nothing_paired_and_nothing_unknown_has_no_bounds():
    assert bounds([], {}) is None

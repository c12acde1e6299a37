"""Numbers never flatter, and never stand alone."""

import pytest

from evals.report.numbers import (
    amount,
    change,
    measure,
    pairs,
    percent,
    points,
    probability,
    rate,
    signed,
    smallest_drop,
)
from tests.builders.run import a_comparison, a_scorer_info, a_summary


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (None, "n/a"),
        (0, "0 %"),
        (0.0001, "<1 %"),
        (0.005, "<1 %"),
        (0.006, "1 %"),
        (0.5, "50 %"),
        (0.994, "99 %"),
        (0.995, ">99 %"),
        (0.9999, ">99 %"),
        (1, "100 %"),
    ],
)
def test_nothing_and_everything_are_said_only_where_exactly_true(share: float | None, shown: str):
    assert percent(share) == shown


@pytest.mark.parametrize(
    ("difference", "shown"),
    [
        (None, "n/a"),
        (0.0, "0"),
        (0.001, "+<1"),
        (-0.005, "\N{MINUS SIGN}<1"),
        (0.25, "+25"),
        (-1.0, "\N{MINUS SIGN}100"),
    ],
)
def test_a_difference_is_zero_only_where_exactly_true(difference: float | None, shown: str):
    assert points(difference) == shown


@pytest.mark.parametrize(("chance", "shown"), [(None, "n/a"), (0.0004, "<0.001"), (0.0314, "0.031"), (1.0, "1.000")])
def test_a_p_value_is_never_zero(chance: float | None, shown: str):
    assert probability(chance) == shown


def test_a_rate_stands_beside_its_counts_and_its_interval():
    summary = a_summary(hits=2, n=3, total=4, mean=2 / 3, low=0.21, high=0.94)

    assert rate(summary) == "67 % (2/3) [21 %, 94 %] n=3/4"


def test_a_cost_is_shown_in_its_unit_with_its_cases():
    tokens = a_scorer_info("cost.tokens", unit="tokens")

    assert amount(a_summary(scorer="cost.tokens", hits=None, n=7, total=8, mean=1234.5), tokens) == "1,234 n=7/8"


@pytest.mark.parametrize(
    ("number", "unit", "shown"),
    [
        (0.5, "fraction", "50 %"),
        (3.0, "count", "3"),
        (3.25, "count", "3.2"),
        (2.0, "seconds", "2 s"),
        (0.0, "USD", "0 USD"),
        (0.0123, "USD", "0.0123 USD"),
        (0.00001, "USD", "<0.0001 USD"),
    ],
)
def test_a_single_value_is_shown_in_its_unit(number: float, unit: str, shown: str):
    assert measure(number, unit) == shown


@pytest.mark.parametrize(("drop", "shown"), [(None, "none"), (0.4, "40"), (0.351, "36")])
def test_a_suite_too_small_to_see_any_drop_says_so(drop: float | None, shown: str):
    assert smallest_drop(a_comparison(minimum_detectable=drop)) == shown


def test_the_smallest_drop_stands_with_the_losses_it_takes():
    assert smallest_drop(a_comparison(minimum_detectable=0.4, fewest_losses=5)) == "40 (5 losses)"


def test_a_difference_off_the_tape_stands_between_its_bounds():
    item = a_comparison(delta=0.0, n=3, of=4, pessimistic=-0.25, optimistic=0.25)

    assert (pairs(item), change(item)) == ("3/4", "0 (\N{MINUS SIGN}25 to +25 with the rest)")


@pytest.mark.parametrize(
    ("number", "shown"), [(None, "n/a"), (0.0, "0"), (0.001, "+<0.01"), (-0.25, "\N{MINUS SIGN}0.25"), (1.0, "+1.00")]
)
def test_a_number_around_nought_has_a_sign(number, shown):
    assert signed(number) == shown

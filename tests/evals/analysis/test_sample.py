"""Which requests are drawn: seeded, proportional, nested."""

from collections import Counter

from evals.analysis.drift_session import allocated, drawn
from tests.builders.drifting import World

REQUESTS = World().requests(size=500)


def test_shares_are_proportional_and_nobody_is_left_out():
    assert allocated({"large": 900, "middle": 90, "small": 1}, 40) == {"large": 35, "middle": 4, "small": 1}


def test_a_larger_sample_holds_the_smaller_one():
    small, large = ({each.key for each in drawn(REQUESTS, size, seed=4)} for size in (60, 133))

    assert small < large
    assert len(large) == 133


def test_the_same_seed_draws_the_same_whatever_order_they_come_in():
    assert [r.key for r in drawn(REQUESTS, 50, 1)] == [r.key for r in drawn(REQUESTS[::-1], 50, 1)]


def test_every_request_of_a_stratum_is_drawn_about_as_often():
    """Over 200 seeds each is expected 20 times; six standard deviations of that are 25."""
    times = Counter(request.key for seed in range(200) for request in drawn(REQUESTS, 50, seed))

    assert len(times) == 500
    assert max(abs(count - 20) for count in times.values()) < 26

"""The exact test for graded scores."""

import tracemalloc
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.statistics.paired_tests import hall, mcnemar, sign_flip

grades = st.lists(st.integers(-4, 4).map(lambda quarter: quarter / 4), min_size=2, max_size=8)


@settings(max_examples=30, deadline=None)  # scipy lists every flip
@given(grades)
def test_p_is_the_share_of_sign_flips_at_least_as_bad(differences):
    flips = [
        sum(s * d for s, d in zip(signs, differences, strict=True))
        for signs in product((1, -1), repeat=len(differences))
    ]
    expected = np.mean([total <= sum(differences) + 1e-9 for total in flips])

    found = sign_flip(differences, range(len(differences)), np.random.default_rng(0))
    whole = all(value == int(value) for value in differences)
    assert found.worse == pytest.approx(expected if whole else max(expected, hall(np.array(differences))))


@pytest.mark.parametrize(("lost", "gained"), [(5, 0), (4, 1), (2, 2)])
def test_whole_flips_give_what_exact_mcnemar_gives(lost, gained):
    was, now = [1.0] * lost + [0.0] * gained, [0.0] * lost + [1.0] * gained
    differences = [b - a for a, b in zip(was, now, strict=True)]

    found = sign_flip(differences, range(len(was)), np.random.default_rng(0))

    assert found.worse == pytest.approx(mcnemar([x == 1 for x in was], [x == 1 for x in now]).p_worse)


def test_twins_are_flipped_together():
    """Two pairs of twins that all lost are two flips, p = 1/4, not four."""
    assert sign_flip([-1, -1, -1, -1], "aabb", np.random.default_rng(0)) == (0.25, 1.0, 0.25)


@pytest.mark.parametrize(("differences", "p"), [([], None), ([0.0, 0.0], 1.0), ([-0.5], 0.5), ([0.5], 1.0)], ids=str)
def test_the_smallest_samples_claim_nothing(differences, p):
    found = sign_flip(differences, range(len(differences)), np.random.default_rng(0))
    assert (found and found.worse) == p


def test_beyond_what_can_be_listed_the_seed_decides():
    differences = list(np.random.default_rng(1).normal(-0.1, 0.3, 30))

    first, second = (sign_flip(differences, range(30), np.random.default_rng(7)) for _ in range(2))

    assert first == second


def test_many_clusters_take_no_more_memory_than_few():
    """All 9,999 flips of 1,000 clusters at once would be 80 MB."""
    differences = list(np.random.default_rng(1).normal(0, 1, 1000))
    tracemalloc.start()
    sign_flip(differences, range(1000), np.random.default_rng(7))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 40_000_000

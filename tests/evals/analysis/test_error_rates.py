"""How often the whole procedure is wrong, by simulation: a sitting of 60, and where that cannot tell, the sample it
asks for, which keeps the answers of the first."""

import dataclasses
from collections import Counter

import numpy as np
import pytest

from evals.analysis.drift_comparison import compared, enough_for, judged, noise_of
from evals.analysis.drift_session import drawn
from tests.builders.drifting import World
from tests.builders.shipped import every

pytestmark = pytest.mark.slow

SITTINGS = 160 if every() else 60
ALPHA = 0.05


def verdicts(world):
    """How many sittings end with which verdict."""
    requests = world.requests()
    return Counter(a_procedure(world, requests, seed) for seed in range(SITTINGS))


def a_procedure(world, requests, seed, size=60, precision=0.15):
    rng, before = np.random.default_rng(seed), {}
    for _ in range(2):
        asked = world.asked(requests, drawn(requests, size, seed), rng)
        asked = [dataclasses.replace(before.get(one.request, one), weight=one.weight) for one in asked]
        before = {one.request: one for one in asked}
        fields = compared(asked, ALPHA, seed)
        enough = enough_for(fields[0], noise_of(asked), requests, precision, seed)
        verdict = judged(fields, enough, precision)
        if verdict.status != "cannot tell" or enough.sample is None:
            break
        size = enough.sample
    return verdict.status


UNCHANGED = {
    "three answers on tape": World(noise=0.1, kept=3),
    "5 points of noise": World(noise=0.05),
    "10 points of noise": World(noise=0.1),
}
CHANGED = {
    "with 10 points of noise": World(change=0.15, noise=0.1, kept=2),
    "spread evenly": World(change=0.15),
    "by whole cases": World(change=0.15, by_case=True),
}
"""The first of each is the hardest; the others are for `make test EVERY=1`."""


def some(worlds):
    return {name: world for number, (name, world) in enumerate(worlds.items()) if every() or not number}


@pytest.mark.parametrize("world", some(UNCHANGED).values(), ids=some(UNCHANGED))
def test_an_unchanged_model_is_called_drifted_at_most_one_time_in_twenty(world):
    found = verdicts(world)

    assert found["drifted"] <= ALPHA * SITTINGS, found
    assert found["representative"] >= 0.8 * SITTINGS, found


@pytest.mark.parametrize("world", some(CHANGED).values(), ids=some(CHANGED))
def test_a_change_of_15_points_is_found_four_times_in_five_at_the_sample_it_asks_for(world):
    found = verdicts(world)

    assert found["drifted"] >= 0.8 * SITTINGS, found
    assert found["representative"] <= ALPHA * SITTINGS, found

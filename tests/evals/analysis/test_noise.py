"""What `evals noise` claims of a gate comes true in simulated runs of known truth."""

import math

import numpy as np
import pytest

from evals.analysis.noise import MeanGate, noise_of
from evals.errors import CannotJudgeError
from evals.statistics.paired_tests import minimum_detectable_drop, sign_flip

RUNS = 5
CASES = 80
TRUTHS = 100
"""Sets of five runs that a claim is made of: the standard error of a mean rate is 0.03 at most, of a coverage 0.03."""


def chances(rng, cases=CASES):
    """How often each case passes: most always, a quarter now and then."""
    return np.where(np.arange(cases) % 4 == 0, rng.uniform(0.2, 0.95, cases), 1.0)


def passing(rng, chance, runs):
    """(runs, cases) of 0 and 1."""
    return (rng.random((runs, len(chance))) < chance).astype(float)


def grading(rng, chance, runs):
    """(runs, cases) of grades between 0 and 1 around the same means."""
    return np.clip(rng.normal(chance, 0.15, (runs, len(chance))), 0, 1)


def noise(values, gate=None):
    """What is claimed of these runs."""
    cases = {f"case-{n}": values[:, n].tolist() for n in range(values.shape[1])}
    return noise_of("my.metric", cases, gate or MeanGate(), alpha=0.05, margin=0.05)


DRAWS = {"pass or fail": passing, "grades": grading}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS.keys())
@pytest.mark.parametrize("below", [-1.5, -0.5, 0.0, 1.0])
def test_a_threshold_turns_red_as_often_as_claimed(draw, below):
    rng = np.random.default_rng(1)
    chance = chances(rng)
    means = draw(rng, chance, 20_000).mean(axis=1)
    threshold = round(float(means.mean() + below * means.std()), 3)
    true = float((means < threshold).mean())

    claims = [noise(draw(rng, chance, RUNS), MeanGate(threshold=threshold)).below_threshold for _ in range(TRUTHS)]

    assert np.mean([claim.rate for claim in claims]) == pytest.approx(true, abs=0.06)
    covered = np.mean([claim.low <= true + 0.01 and claim.high >= true - 0.01 for claim in claims])
    assert covered >= 0.9


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS.keys())
@pytest.mark.parametrize("drop", [0.0, 0.02, 0.05])
def test_a_comparison_of_two_means_turns_red_as_often_as_claimed(draw, drop):
    rng = np.random.default_rng(2)
    chance = chances(rng)
    before, after = (draw(rng, chance, 20_000).mean(axis=1) for _ in range(2))
    true = float((np.round(after - before, 9) < -drop).mean())

    claims = [noise(draw(rng, chance, RUNS), MeanGate(drop=drop)).fell for _ in range(TRUTHS)]

    assert np.mean(claims) == pytest.approx(true, abs=0.03)


def test_the_smallest_drops_are_seen_in_80_of_100():
    """By the threshold, and by the means of two runs. A drop is some cases that fail for good."""
    rng = np.random.default_rng(3)
    chance, gate = chances(rng), MeanGate(threshold=0.85, drop=0.01)
    found = noise(passing(rng, chance, 200), gate)
    before, after = (passing(rng, chance, 20_000).mean(axis=1) for _ in range(2))

    for size, gap in (
        (found.threshold_drop, after - gate.threshold),
        (found.mean_drop, np.round(after - before, 9) + gate.drop),
    ):
        fewer, more = (
            float((gap - cases / CASES < -1e-9).mean()) for cases in (size * CASES // 1, -(-size * CASES // 1))
        )
        assert fewer <= 0.82
        assert more >= 0.78


def power_of_pairs(rng, draw, chance, drop, repeats=1):
    """How often the paired test calls a drop, spread over as many whole cases as it takes, a regression."""
    lost = np.zeros(len(chance))
    lost[rng.permutation(len(chance))[: round(drop * len(chance) / chance.mean())]] = 1
    red = 0
    for _ in range(200):
        was = draw(rng, chance, repeats).mean(axis=0)
        now = draw(rng, chance * (1 - lost), repeats).mean(axis=0)
        red += sign_flip((now - was).tolist(), range(len(chance)), rng).worse <= 0.05
    return red / 200


def test_a_paired_test_sees_its_smallest_drop_and_enough_cases_see_the_margin():
    rng = np.random.default_rng(4)
    found = noise(passing(rng, chances(rng), 50))

    assert power_of_pairs(rng, passing, chances(rng), found.paired_drop) == pytest.approx(0.85, abs=0.12)
    assert found.enough_cases > CASES
    assert power_of_pairs(rng, passing, chances(rng, found.enough_cases), 0.05) >= 0.75


def test_enough_repeats_see_the_margin():
    rng = np.random.default_rng(5)
    chance = np.full(CASES, 0.7)
    repeats = noise(passing(rng, chance, 50)).enough_repeats

    assert 10 <= repeats <= 20
    power = []
    for _ in range(100):
        was, now = (passing(rng, each, repeats).mean(axis=0) for each in (chance, chance - 0.05))
        power.append(sign_flip((now - was).tolist(), range(CASES), rng).worse <= 0.05)
    assert np.mean(power) == pytest.approx(0.8, abs=0.1)


def test_where_no_value_ever_changed_the_drop_itself_is_noise():
    """Repeats of a case then fail now and then, and a test has to see enough such cases."""
    rng = np.random.default_rng(6)
    enough = noise(np.ones((3, 40))).enough_repeats

    def power(repeats):
        found = [passing(rng, np.full(40, 0.95), repeats).mean(axis=0) - 1 for _ in range(300)]
        return np.mean([sign_flip(change.tolist(), range(40), rng).worse <= 0.05 for change in found])

    assert power(enough) >= 0.8 > power(enough - 1)


def test_runs_without_any_change_have_no_noise_and_a_bound_for_it():
    found = noise(np.ones((3, 40)))

    assert (found.spread, found.fell) == (0.0, 0.0)
    assert found.paired_drop == minimum_detectable_drop(40)
    assert found.most_changing == pytest.approx(1 - 0.05 ** (1 / 40))


def test_the_mean_and_its_spread_are_those_of_the_runs():
    """Of four cases one passes in half of the runs: p (1 - p) / 4 squared, without bias."""
    values = np.array([[1, 1, 1, 0], [1, 1, 1, 1]], dtype=float)
    found = noise(values)

    assert (found.mean, found.cases, found.runs) == (0.875, 4, 2)
    assert found.spread == pytest.approx(math.sqrt(0.5) / 4)


def test_one_run_says_nothing_of_noise():
    with pytest.raises(CannotJudgeError, match="one value per case"):
        noise(np.ones((1, 40)))

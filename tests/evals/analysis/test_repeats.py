"""Repeats of a suite through the whole gate: chance alone is not red, planted losses are."""

from dataclasses import replace

import numpy as np
import pytest

from evals.pipeline.selftest_suite import Repeats
from evals.scoring.registry import score_trials
from tests.builders.facts import a_good_trace, some_cases, some_material

CASES = some_cases(24)


def repeats_of(unlike=0):
    """Three repeats of every case under v2 and v3; in so many cases the last one violates a hard constraint."""
    traces = [
        a_good_trace(case.id, name, sample=sample) for case in CASES for name in ("v2", "v3") for sample in range(3)
    ]
    trials = score_trials({case.id: case for case in CASES}, traces)
    told = tuple(
        trial.model_copy(update={"hard_violations": ("P4",)})
        if trial.trace.sample == 2 and trial.trace.case_id in {f"case-{n}" for n in range(unlike)}
        else trial
        for trial in trials
    )
    material = some_material(CASES, told)
    return Repeats(replace(material, suite=material.suite.model_copy(update={"samples": 3})))


def test_another_repeat_with_single_new_violations_is_no_regression():
    """Two variants with one new violation each: it was red with the first."""
    assert repeats_of(unlike=1).whole(0, 2).exit_code == 0


def test_violations_in_half_of_the_cases_are_one():
    verdict = repeats_of(unlike=12).whole(0, 2)

    assert (verdict.exit_code, verdict.reasons[0].kind) == (1, "new hard violation")


def test_mixtures_of_alike_repeats_are_never_red_and_have_no_churn():
    repeats = repeats_of(unlike=2)

    assert repeats.rate(10, np.random.default_rng(1)).red == 0
    assert repeats.churn == 0


@pytest.mark.parametrize("planted", ["routes", "hard constraints"])
def test_losses_planted_in_half_of_the_cases_are_red_every_time(planted):
    rate = repeats_of().rate(5, np.random.default_rng(1), 12, planted)

    assert (rate.red, rate.draws, rate.flips, rate.planted, rate.outcomes) == (5, 5, 12, planted, "recorded repeats")


def test_the_same_seed_draws_the_same_mixtures():
    first, second = (repeats_of(unlike=6).rate(10, np.random.default_rng(3), 4) for _ in range(2))

    assert first == second

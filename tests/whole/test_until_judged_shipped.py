"""The shipped recordings, as if the candidate were not recorded: any order of its answers leads to the same verdict."""

from functools import cache

import numpy as np
import pytest

from evals.comparison.assemble_run import verdict_of
from evals.comparison.curtailment import Curtailment
from evals.runner.trials import trial_id
from tests.builders.shipped import every
from tests.builders.unasked import Unasked, answers_of, changes, claims

pytestmark = pytest.mark.slow
CHANGES = ("v6 against v3", "v3 against v6", "a dropped step", "30 % of routes lost", "no change")
whole_runs = cache(changes)


@pytest.mark.parametrize("seed", range(100 if every() else 1))
@pytest.mark.parametrize("change", CHANGES)
def test_any_order_of_answers_leads_to_the_verdict_of_all(change, seed):
    whole = whole_runs()[change]
    rng = np.random.default_rng(seed)
    order = [*answers_of(whole)]
    rng.shuffle(order)
    run = Unasked(whole, set(order))

    first = run.needed(order)
    later = {first, *rng.integers(first, len(order) + 1, 2).tolist()}

    early, verdict = [verdict_of(run.with_only(order[:n])) for n in later], verdict_of(whole)

    assert {each.status for each in early} == {verdict.status}
    assert all(claims(each) <= claims(verdict) for each in early)


def test_a_clear_regression_needs_at_most_half_of_the_answers():
    whole = whole_runs()["a dropped step"]
    answers = answers_of(whole)
    run = Unasked(whole, answers.keys())
    order = [trial_id(trial.trace) for trial in Curtailment(run.with_only(())).to_ask()]

    asked = order[: run.needed(order)]

    assert sum(answers[trial] for trial in asked) <= sum(answers.values()) / 2

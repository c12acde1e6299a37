"""Cost in the verdict: told without a limit, red above a limit of `gate.cost`, never green where it is unknown."""

from dataclasses import replace

import numpy as np
import pytest
from pydantic import ValidationError

from evals.comparison.assemble_run import assemble
from evals.comparison.variant_metrics import cost_changes
from evals.models.metrics import Scored
from evals.models.suite import GatePolicy
from tests.builders.facts import a_baseline, a_good_trace, some_cases, some_material, some_trials
from tests.builders.trace import a_call

CASES = some_cases(20)


def tokens_of(count):
    """Calls of one trial that counted so many tokens."""
    return (a_call(prompt=count, completion=0),) if count else ()


def material_of(v3, v2=lambda n: 1000 + 10 * n, cases=CASES, **cost):
    """Case number -> tokens of a trial, under the candidate v3 and the reference v2."""
    changed = {
        (f"case-{n}", name): a_good_trace(f"case-{n}", name, calls=tokens_of(count(n)))
        for n in range(len(cases))
        for name, count in (("v3", v3), ("v2", v2))
    }
    trials = some_trials(cases, changed)
    material = some_material(cases, trials, baseline=a_baseline(cases, trials))
    suite = material.suite.model_copy(update={"gate": GatePolicy(cost=cost)})
    return replace(material, suite=suite)


def dearer(n):
    return 1300 + 13 * n


def test_a_change_under_half_a_percent_is_not_told():
    assert "tokens" not in assemble(material_of(lambda n: 100_100, lambda n: 100_000)).verdict.sentence


def test_a_dearer_candidate_without_a_limit_is_green_and_its_cost_is_told():
    verdict = assemble(material_of(dearer)).verdict

    assert verdict.exit_code == 0
    assert "30 % more tokens [30, 30] per case" in verdict.sentence


def test_a_cheaper_candidate_is_told_as_well():
    assert "50 % fewer tokens [50, 50] per case" in assemble(material_of(lambda n: 500 + 5 * n)).verdict.sentence


def test_a_candidate_above_its_limit_is_worse_with_the_limit_named():
    verdict = assemble(material_of(dearer, tokens="+10 %")).verdict

    assert verdict.exit_code == 1
    assert verdict.sentence == (
        "Worse: v3 has 30 % more tokens [30, 30] than v2 over 20 cases; the limit is +10 %, for no gain."
    )


def test_a_candidate_below_its_limit_is_not_worse():
    assert assemble(material_of(dearer, tokens="+40 %")).verdict.exit_code == 0


def test_a_rise_that_chance_may_explain_is_not_worse():
    """The mean is 19 % above, by two cases of 20."""
    assert assemble(material_of(lambda n: 3500 if n < 2 else 1050 + n, tokens="+10 %")).verdict.exit_code == 0


def test_a_limit_below_zero_asks_for_a_saving():
    assert assemble(material_of(lambda n: 990 + 10 * n, tokens="-15 %")).verdict.exit_code == 1


def test_an_absolute_limit_is_the_mean_per_case():
    assert assemble(material_of(dearer, tokens=1500)).verdict.exit_code == 0
    verdict = assemble(material_of(dearer, tokens=1200)).verdict
    assert (verdict.exit_code, "v3 needs 1424 tokens per case" in verdict.sentence) == (1, True)


def test_a_limit_on_a_cost_that_nobody_knows_cannot_be_judged():
    verdict = assemble(material_of(dearer, price="+10 %")).verdict

    assert verdict.exit_code == 3
    assert "gate.cost limits price, unknown in 20 of 20 cases" in verdict.sentence


def test_a_change_against_a_reference_that_costs_nothing_cannot_be_judged():
    """No share of nothing is a limit."""
    assert assemble(material_of(dearer, lambda n: 0, calls="+10 %")).verdict.exit_code == 3


def test_a_limit_over_too_few_cases_for_an_interval_is_not_green_above_it():
    few = some_cases(4)

    assert assemble(material_of(dearer, cases=few, tokens="+10 %")).verdict.exit_code == 3
    assert assemble(material_of(lambda n: 1000 + 10 * n, cases=few, tokens="+10 %")).verdict.exit_code == 0


@pytest.mark.parametrize("wrong", [{"tokens": "+ten %"}, {"calls": -1}, {"money": 3}])
def test_a_limit_that_says_nothing_is_refused(wrong):
    with pytest.raises(ValidationError):
        GatePolicy(cost=wrong)


def test_a_null_change_is_called_dearer_in_at_most_1_of_20_runs():
    """Both variants draw skewed token counts from one distribution."""
    rng, runs = np.random.default_rng(7), 400
    material = material_of(dearer, tokens="+0 %")
    above = 0
    for _ in range(runs):
        trials = [
            trial.model_copy(update={"outcomes": {"cost.tokens": Scored(value=rng.lognormal(7, 0.4))}})
            for trial in material.trials
        ]
        (found,) = cost_changes(replace(material, trials=trials))
        above += found.low > 0
    assert above / runs <= 0.05

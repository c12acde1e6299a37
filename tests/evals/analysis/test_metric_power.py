"""What each metric of a run can show: headroom, noise, the smallest drop, and what it says again."""

import pytest

from evals.analysis.metric_power import metric_powers, recommended
from evals.models.metrics import Scored
from evals.models.run import DatasetBaseline
from evals.report.view.selftest_page import power_table, recommendation
from tests.builders.facts import a_coverage
from tests.builders.run import a_case_info, a_run, a_scorer_info, a_trial, a_variant_info
from tests.builders.trace import a_trace

CASES = 40


def run_of(repeats=1, **metrics):
    """Metric -> (value of the candidate, value of the reference) by case number and repeat; names have no dot here."""
    names = [f"case-{n}" for n in range(CASES)]
    trials = tuple(
        a_trial(
            a_trace(case_id=name, variant=variant, sample=repeat),
            {f"my.{metric}": Scored(value=float(values[side](n, repeat))) for metric, values in metrics.items()},
        )
        for n, name in enumerate(names)
        for side, variant in enumerate(("v3", "v2"))
        for repeat in range(repeats)
    )
    return a_run(
        *trials,
        candidate="v3",
        reference="v2",
        cases=tuple(a_case_info(name, cluster=name) for name in names),
        variants=(a_variant_info("v2"), a_variant_info("v3")),
        scorers=tuple(a_scorer_info(f"my.{metric}", primary=False, macro=False) for metric in metrics),
        coverage={"v2": a_coverage(CASES), "v3": a_coverage(CASES)},
        dataset_baselines=(
            DatasetBaseline(endpoint="my.half", name="constant", definition="one answer", share=0.3, n=CASES),
        ),
    )


def same(value):
    return (value, value)


def half(n, repeat):
    return n % 2 == 0


def by_name(run):
    return {item.metric: item for item in metric_powers(run)}


def test_headroom_is_what_is_left_above_the_better_side():
    found = by_name(run_of(half=(lambda n, r: n % 4 != 0, half), full=same(lambda n, r: 1)))

    assert found["my.half"].headroom == pytest.approx(0.25)
    assert found["my.full"].headroom == 0


def test_the_floor_is_what_a_fixed_answer_reaches():
    found = by_name(run_of(half=same(half), other=same(half)))

    assert (found["my.half"].floor, found["my.other"].floor) == (0.3, None)


def test_noise_is_the_spread_between_repeats_of_one_case_and_unknown_without_repeats():
    """Every case passes in one of two repeats: 0.5 from their mean, and 0.71 as an unbiased estimate of two."""
    assert by_name(run_of(half=same(half)))["my.half"].noise is None
    found = by_name(run_of(2, half=same(lambda n, r: r), steady=same(half)))
    assert found["my.half"].noise == pytest.approx(0.5**0.5)
    assert found["my.steady"].noise == 0


def test_a_graded_metric_that_moves_little_sees_a_smaller_drop_with_fewer_cases():
    found = by_name(run_of(half=same(half), grade=(lambda n, r: 0.5 + n / 1000, lambda n, r: 0.5 + n / 1001)))

    assert found["my.grade"].detectable < found["my.half"].detectable
    assert found["my.grade"].cases_for_margin < found["my.half"].cases_for_margin


def test_cases_for_the_margin_grow_with_the_square_of_the_drop():
    found = by_name(run_of(half=same(half)))["my.half"]

    assert found.cases_for_margin == pytest.approx(CASES * (found.detectable / 0.05) ** 2, abs=1)


def test_of_metrics_that_say_the_same_the_one_that_sees_the_smallest_drop_is_recommended():
    def third(n, repeat):
        return n % 3 == 0

    run = run_of(
        half=same(half),
        grade=(lambda n, r: 0.4 + half(n, r) / 10 + n % 3 / 900, lambda n, r: 0.4 + half(n, r) / 10),
        third=same(third),
    )
    found = by_name(run)

    assert (found["my.half"].use, found["my.half"].same_as) == ("same", "my.grade")
    assert recommended(metric_powers(run)) == ["my.grade", "my.third"]


def test_a_metric_at_its_ceiling_shows_losses_only():
    found = by_name(run_of(full=same(lambda n, r: n > 0)))["my.full"]

    assert found.use == "losses only"


def test_a_metric_of_too_few_cases_is_not_recommended():
    def rare(n, repeat):
        return n == 0

    run = run_of(half=same(half))
    trials = [
        trial.model_copy(update={"outcomes": {"my.half": trial.outcomes["my.half"]}})
        for trial in run.trials
        if trial.trace.case_id in ("case-0", "case-1", "case-2")
    ]
    (found,) = metric_powers(run.model_copy(update={"trials": tuple(trials)}))

    assert (found.use, found.detectable) == ("cannot decide", None)


def test_a_metric_that_is_better_when_lower_is_read_from_its_good_end():
    run = run_of(half=same(lambda n, r: n < 4))
    lower = run.scorers[0].model_copy(update={"better": "lower"})
    (found,) = metric_powers(run.model_copy(update={"scorers": (lower,)}))

    assert found.headroom == pytest.approx(0.1)


def test_the_recommendation_names_present_primary_metrics_that_show_no_gain():
    run = run_of(half=same(half), full=same(lambda n, r: n > 0))
    primary = tuple(info.model_copy(update={"primary": info.name == "my.full"}) for info in run.scorers)
    powers = metric_powers(run.model_copy(update={"scorers": primary}))

    assert recommendation(powers) == (
        "Primary metrics that could decide: my.half. Primary now, and shows losses only: my.full."
    )
    assert [row[0] for row in power_table(powers, "").rows] == ["my.full *", "my.half"]

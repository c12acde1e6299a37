"""What keeps a suite from being held against its baseline, and what only looks as if it did."""

from pathlib import Path

import pytest

from evals.errors import ConfigurationError
from evals.models.run_request import Options
from evals.pipeline.load_suite import selected

CHECKOUT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    "options",
    [
        Options(samples=1),
        Options(settings={"guards": "hardened"}),
        Options(settings={"max_iterations": 10}),
        Options(dataset=CHECKOUT / "datasets"),
        Options(open_holdout="a look", cases=("stockroom-random-403",)),
    ],
    ids=["samples", "guards", "max-iterations", "dataset", "open-holdout"],
)
def test_an_option_that_asks_for_what_the_suite_has_does_not_switch_the_baseline_off(options):
    chosen = selected("prompts", CHECKOUT, options)

    assert chosen.unblessed == ()
    assert [info.variant.name for info in chosen.variants] == ["v3", "v6"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (Options(samples=3), "--repeat 3"),
        (Options(settings={"guards": "none"}), "--set guards=none"),
        (Options(settings={"max_iterations": 5}), "--set max_iterations=5"),
        (Options(open_holdout="the release"), "--open-holdout the release"),
    ],
)
def test_an_option_that_changes_something_is_named(options, said):
    assert selected("prompts", CHECKOUT, options).unblessed == (said,)


def test_a_holdout_is_not_opened_without_a_reason_even_where_nothing_is_held_out():
    with pytest.raises(ConfigurationError, match="needs a reason"):
        selected("prompts", CHECKOUT, Options(open_holdout=" ", cases=("stockroom-random-403",)))


def test_many_cases_of_a_partial_run_are_counted():
    said = Options(cases=("a", "b", "c", "d", "e")).partial

    assert said == ("only a, b, c and 2 more of the suite's cases were run (--case)",)

"""Scores beside what needs no model, and the cases no number speaks of."""

import pytest

from evals.models.run import DatasetBaseline, Scope
from evals.report.numbers import MINUS
from evals.report.view.headline_table import (
    baseline_table,
    best_baseline,
    in_words,
    skill_of,
    variant_table,
)
from tests.builders.run import a_run, a_summary


def a_dataset_baseline(name="two branches", share=0.5, endpoint="route.pass"):
    """What a router without a model reaches."""
    return DatasetBaseline(endpoint=endpoint, name=name, definition="A rule.", share=share, n=10, detail="a → b")


RIVALS = (a_dataset_baseline(share=0.5), a_dataset_baseline("constant route", 0.25), a_dataset_baseline("oracle", 1.0))


def test_the_strongest_baseline_counts_and_the_oracle_is_no_rival():
    assert best_baseline(a_run(dataset_baselines=RIVALS), "route.pass") == RIVALS[0]


@pytest.mark.parametrize(
    ("mean", "share", "text"), [(0.75, 0.5, "+0.50"), (0.4, 0.5, f"{MINUS}0.20"), (1.0, 1.0, "n/a")]
)
def test_skill_is_signed_and_unknown_where_nothing_can_be_won(mean, share, text):
    assert skill_of(a_summary(mean=mean), a_dataset_baseline(share=share)) == text


def test_a_score_over_some_of_the_cases_is_not_held_against_a_baseline_over_all():
    assert skill_of(a_summary(mean=0.75, n=3, total=4), RIVALS[0]) == "n/a"


def test_every_cell_stands_beside_its_skill():
    _, _, first, *others = variant_table(a_run(dataset_baselines=RIVALS)).rows[0]

    assert first.endswith(", skill +1.00")
    assert not [cell for cell in others if "skill" in cell]


def test_all_baselines_are_listed_with_what_they_rest_on():
    assert baseline_table(a_run(dataset_baselines=RIVALS)).rows[1] == (
        "constant route",
        "route.pass",
        "25 %",
        "10",
        "A rule.",
        "a → b",
    )


def test_the_scope_says_what_is_not_in_the_numbers():
    scope = Scope(cases=10, selected=3, unrecorded=("a", "b"), sealed=("c",), openings=2)

    assert in_words(scope) == (
        "The dataset has 10 cases: 3 in this run, 2 of the 10 not recorded yet, 1 held out. "
        "The held-out cases have been scored 2 times."
    )


def test_the_scope_says_nothing_of_held_out_cases_where_there_are_none():
    assert in_words(Scope(cases=1, selected=1)) == "The dataset has 1 case: 1 in this run."

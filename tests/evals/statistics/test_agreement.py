"""Agreement on an ordered scale."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa

from evals.statistics.calibration_stats import bootstrap_kappa, quadratic_kappa
from evals.triage.nodes import SEVERITIES

ratings = st.lists(st.tuples(st.sampled_from(SEVERITIES), st.sampled_from(SEVERITIES)), min_size=2, max_size=40)


@given(ratings)
def test_quadratic_kappa_agrees_with_statsmodels(pairs):
    table = np.zeros((4, 4))
    for gold, named in pairs:
        table[SEVERITIES.index(gold), SEVERITIES.index(named)] += 1
    found = quadratic_kappa([gold for gold, _ in pairs], [named for _, named in pairs], SEVERITIES)
    assume(found is not None)

    assert found == pytest.approx(cohens_kappa(table, wt="quadratic", return_results=False))


@pytest.mark.parametrize("labels", [[], ["HIGH", "HIGH"]])
def test_labels_that_cannot_disagree_have_no_kappa(labels):
    assert quadratic_kappa(labels, labels, SEVERITIES) is None


@settings(deadline=None)
@given(ratings)
def test_quadratic_kappa_agrees_with_scikit_learn(pairs):
    gold, named = [gold for gold, _ in pairs], [named for _, named in pairs]
    found = quadratic_kappa(gold, named, SEVERITIES)
    assume(found is not None)

    assert found == pytest.approx(cohen_kappa_score(gold, named, labels=SEVERITIES, weights="quadratic"))


def test_the_interval_of_kappa_is_about_that_of_its_asymptotic_variance():
    """Statsmodels gives the large-sample variance of Fleiss, Cohen and Everitt (1969); 200 answers are large enough."""
    rng = np.random.default_rng(5)
    gold = rng.integers(0, 4, 200)
    named = np.clip(gold + rng.integers(-1, 2, 200), 0, 3)
    table = np.zeros((4, 4))
    np.add.at(table, (gold, named), 1)
    words = [[SEVERITIES[number] for number in side] for side in (gold, named)]

    low, high = bootstrap_kappa(*words, range(200), np.random.default_rng(6), scale=SEVERITIES)

    expected = cohens_kappa(table, wt="quadratic")
    assert (low, high) == pytest.approx((expected.kappa_low, expected.kappa_upp), abs=0.02)


def test_answers_of_one_cluster_have_no_interval():
    assert bootstrap_kappa(["LOW", "HIGH"], ["LOW", "HIGH"], "aa", np.random.default_rng(0), scale=SEVERITIES) is None

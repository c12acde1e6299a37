"""Agreement on an ordered scale."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa

from evals.stats.agreement import SEVERITIES, quadratic_kappa, triage_counts

ratings = st.lists(st.tuples(st.sampled_from(SEVERITIES), st.sampled_from(SEVERITIES)), min_size=2, max_size=40)


@given(ratings)
def test_quadratic_kappa_agrees_with_statsmodels(pairs):
    table = np.zeros((4, 4))
    for gold, named in pairs:
        table[SEVERITIES.index(gold), SEVERITIES.index(named)] += 1
    found = quadratic_kappa([gold for gold, _ in pairs], [named for _, named in pairs])
    assume(found is not None)

    assert found == pytest.approx(cohens_kappa(table, wt="quadratic", return_results=False))


@pytest.mark.parametrize("labels", [[], ["HIGH", "HIGH"]])
def test_labels_that_cannot_disagree_have_no_kappa(labels):
    assert quadratic_kappa(labels, labels) is None


def test_too_low_and_too_high_are_counted_apart():
    found = triage_counts(["HIGH", "HIGH", "LOW", "LOW"], ["LOW", "HIGH", "CRITICAL", "LOW"])

    assert (found.total, found.exact, found.under, found.over) == (4, 2, 1, 1)

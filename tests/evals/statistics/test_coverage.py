"""Every interval that gate and report show covers the truth as often as it says, and tests raise few false alarms.

A hundred draws a cell with every run of the tests, two thousand with `make test EVERY=1`.
"""

import pytest

from tests.builders.shipped import every
from tests.evals.statistics.coverage import Row, alarms, intervals

DRAWS = 2000 if every() else 100
COVERAGE, ALARMS = (0.93, 0.055) if every() else (0.86, 0.12)
"""With a hundred draws, three standard errors beside what is promised."""
BESIDE = 0.005
"""Skewed differences with mean 0 are no case of "nothing but chance changed", for which the test is exact."""
SKEWED = "very skewed: 80 % lose 0.1, 20 % gain 0.4"
FEWEST = 12
"""Clusters below which a rare large gain may simply not be among the cases, so that no test can know of it."""


@pytest.mark.slow
def test_intervals_cover_the_truth_for_few_cases_and_for_clusters():
    rows = list(intervals(DRAWS))

    assert [row for row in rows if row.share is not None and row.share < COVERAGE] == []
    assert {row.what for row in rows if row.share is None} == {"amount"}
    assert {row.cases // row.cluster for row in rows if row.share is None} == {4, 8, 10}


@pytest.mark.slow
def test_false_alarms_stay_below_alpha_except_for_very_skewed_changes_of_few_clusters():
    rows = list(alarms(DRAWS))
    hopeless = [row for row in rows if row.outcome == SKEWED and _clusters(row) < FEWEST]

    assert [row for row in rows if "skewed" not in row.outcome and row.share > ALARMS] == []
    assert [row for row in rows if row not in hopeless and row.share > ALARMS + BESIDE] == []
    assert max(row.share for row in hopeless) > ALARMS


def _clusters(row: Row) -> int:
    return row.cases // row.cluster

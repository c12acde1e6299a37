"""Measures in one cell each, never without what they rest on."""

import pytest

from evals.report.view.variant_tables import cell, measure_table
from tests.builders.measure import a_measure, a_measure_info
from tests.builders.run import a_run

SHARE = a_measure_info("confidence.sure", unit="fraction")


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({}, "50 % [25 %, 75 %] (8 of 8 trials)"),
        ({"low": None, "high": None}, "50 % (8 of 8 trials)"),
        ({"n": 6, "pessimistic": 0.375, "optimistic": 0.625}, "(6 of 8 trials), 38 % to 62 % with the rest"),
        ({"pessimistic": 0.5, "optimistic": 0.5}, "(8 of 8 trials)"),
        ({"null_low": 0.1, "null_high": 0.3}, "(8 of 8 trials), chance alone 10 % to 30 %"),
        ({"value": None, "why_not": "there are no twins"}, "n/a: there are no twins (8 of 8 trials)"),
    ],
)
def test_a_measure_stands_with_what_it_rests_on(fields, shown):
    assert cell(a_measure(**fields), SHARE).endswith(shown)


def test_every_variant_has_its_column():
    run = a_run(measure_infos=(a_measure_info(),), measures=(a_measure(), a_measure(variant="v3", n=7)))

    assert measure_table(run).head == ("metric", "better", "v2", "v3")
    assert [row[-1][-16:] for row in measure_table(run).rows] == [" (7 of 8 trials)"]

"""Twins: whether a variant treats two cases alike that say the same."""

from evals.report.view.variant_tables import twin_table
from tests.builders.measure import some_twins
from tests.builders.run import a_run


def test_a_pair_is_alike_or_not_and_says_how_each_fared():
    table = twin_table(a_run(twins=(some_twins("p", "v2", 1.0, 1.0), some_twins("p", "v3", 1.0, 0.0))))

    assert table.rows[0] == (
        *("p", "prompt_injection and local_bug", "route.pass"),
        *("✓ passed, passed", "✗ passed, failed"),
    )


def test_a_pair_of_which_one_is_unjudged_is_not_counted():
    table = twin_table(a_run(twins=(some_twins("p", "v2", 1.0, None), some_twins("q", "v2", 0.0, 0.0))))

    assert [row[3] for row in table.rows] == ["passed, unjudged", "✓ failed, failed", "1 of 1 alike"]

"""The page of a self-test: what is caught and what is not, and why the gate is not to be trusted where it is not."""

import pytest

from evals.report.html_page import render_selftest
from evals.report.view.selftest_page import again, faults, power, selftest_page
from tests.builders.selftest import a_fault, a_rate, a_selftest


@pytest.mark.parametrize(("code", "caught"), [(0, "NO"), (1, "yes"), (3, "yes"), (None, "nothing to catch")])
def test_red_and_unjudgeable_both_count_as_caught(code, caught):
    table = faults(a_selftest(faults=(a_fault(code),)))

    assert table.rows[0][-1] == caught


def test_a_fault_that_changes_nothing_is_not_counted_as_caught():
    page = selftest_page(a_selftest(faults=(a_fault(), a_fault(None))))

    assert page.sentence.endswith("1 of 1 planted faults that change anything are caught.")


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"faults": (a_fault(0),)}, "worse prompt is not caught"),
        ({"unlike": ("a-case gave another trace",)}, "replayed again, a-case gave another trace"),
        ({"rates": (a_rate(red=20),)}, "too many false alarms over 64 cases (generated)"),
    ],
)
def test_a_gate_that_does_not_do_what_it_says_says_why(fields, why):
    page = selftest_page(a_selftest(**fields))

    assert page.kind == "worse"
    assert page.sentence == f"The gate of suite prompts does not do what it says: {why}."


def test_recorded_repeats_stand_in_rows_of_their_own_and_their_absence_is_said():
    recorded = {"outcomes": "recorded repeats", "cases": 38}
    known = a_selftest(rates=(a_rate(), a_rate(**recorded), a_rate(flips=8, planted="hard constraints", **recorded)))

    assert [row[:3] for row in power(known).rows] == [
        ("generated", "routes", "64"),
        ("recorded repeats", "hard constraints", "38"),
        ("recorded repeats", "routes", "38"),
    ]
    assert "no recorded repeats" not in again(known)
    assert "This suite has no recorded repeats: generated outcomes stand in" in again(a_selftest())


def test_the_page_is_one_file_that_loads_nothing_and_runs_nothing():
    page = render_selftest(a_selftest())

    assert "default-src &#39;none&#39;" in page
    assert "<script" not in page

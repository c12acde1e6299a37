"""A run over imported cases as LocAgent scores it: by hand, on exactly the rows that were run."""

import pytest

from evals.models.metrics import Scored, Skipped
from evals.statistics.intervals import rate_interval
from evals.triage.report.localisation_accuracy import accuracies, published_cell, published_table, whole_names
from tests.builders.run import a_case_info, a_run, a_trial, a_variant_info
from tests.builders.trace import a_report, a_trace

ONE = {"published": "swebench", "gold": ["a.py"], "whole_names": ["a.py::Cart.total"]}
TWO = {"published": "locagent", "gold": ["a.py", "b.py"], "whole_names": ["a.py::load", "b.py::Store.put"]}
BARE = {"published": "bugsinpy", "gold": ["c.py"]}


def a_row(case_id, published):
    return a_case_info(case_id, labels=published)


def naming(case_id, *places, **fields):
    """A trial of v2 whose report names these places, in this order."""
    first, *others = places or (None,)
    trace = a_trace(case_id=case_id, report=a_report(first, others), **fields)
    hit = {"root_cause.hit": Scored(value=float(first is not None and first.startswith("a.py")))}
    return a_trial(trace, hit | {"root_cause.function_hit": Skipped(reason="not stated")})


def found(*trials, cases):
    run = a_run(*trials, cases=cases)
    return {one.metric.name: one for one in accuracies(run, "v2")}


def test_all_gold_among_the_first_k_counts():
    trial = naming("one", "b.py::x", "a.py::Cart.total")

    scores = found(trial, cases=(a_row("one", ONE),))
    assert [scores[f"file Acc@{k}"].metric.hits for k in (1, 3, 5)] == [0, 1, 1]
    assert [scores[f"function Acc@{k}"].metric.hits for k in (5, 10)] == [1, 1]


def test_a_method_is_not_found_by_its_class_alone():
    scores = found(naming("one", "a.py::Cart"), cases=(a_row("one", ONE),))

    assert scores["file Acc@1"].metric.hits == 1
    assert scores["function Acc@5"].metric.hits == 0


def test_a_row_off_the_tape_and_a_row_without_functions_are_in_no_denominator():
    trials = (
        naming("one", "a.py::Cart.total"),
        naming("two", "a.py::load", provenance="frontier", frontier=1),
        naming("bare", "c.py"),
    )

    scores = found(*trials, cases=(a_row("one", ONE), a_row("two", TWO), a_row("bare", BARE)))
    assert (scores["file Acc@1"].metric.n, scores["file Acc@1"].of) == (2, 3)
    assert (scores["function Acc@5"].metric.n, scores["function Acc@5"].of) == (1, 2)
    assert scores["file Acc@1"].metric.interval == rate_interval(2, 2)


def test_samples_of_one_row_are_merged_to_one_ranking():
    places = ("b.py::x", "a.py::Cart.total", "a.py::Cart.total")
    trials = [naming("one", place, sample=n) for n, place in enumerate(places)]

    scores = found(*trials, cases=(a_row("one", ONE),))
    assert (scores["file Acc@1"].metric.hits, scores["file Acc@1"].metric.n) == (1, 1)
    assert scores["root_cause.hit"].metric.value == pytest.approx(2 / 3)


def test_ours_stands_beside_it_over_the_same_rows():
    ours = a_case_info("ours")
    scores = found(naming("one", "a.py"), naming("ours", "z.py"), cases=(a_row("one", ONE), ours))

    assert (scores["root_cause.hit"].metric.hits, scores["root_cause.hit"].metric.n) == (1, 1)
    assert published_cell(scores["root_cause.function_hit"]) == "n/a n=0/1"


def test_a_run_over_our_own_cases_has_no_such_table():
    assert published_table(a_run()).rows == ()


def test_the_table_says_what_each_number_rests_on():
    trials = (naming("one", "a.py::Cart.total"), naming("two"))
    run = a_run(*trials, cases=(a_row("one", ONE), a_row("two", TWO)), variants=(a_variant_info("v2"),))

    table = published_table(run)
    assert table.caption == "Localisation over 2 cases whose fix is known (locagent, swebench)"
    assert table.head[1:4] == ("file Acc@1", "file Acc@3", "file Acc@5")
    assert table.rows[0][:2] == ("v2", "50 % (1/2) [3 %, 97 %] n=2/2")


@pytest.mark.parametrize(
    ("location", "named"),
    [
        ("a.py::Cart.total", ["a.py::Cart.total"]),
        ("`a.py::Cart.__init__`", ["a.py::Cart"]),
        ("a.py::load", ["a.py::load"]),
        ("a.py:12 in Cart.total()", ["a.py::Cart.total"]),
        ("src/a.py::Outer.Inner.run", ["src/a.py::Outer.Inner.run"]),
        ("a.py", []),
        (None, []),
    ],
)
def test_whole_names_are_read_as_they_are_written(location, named):
    assert list(whole_names(a_trace(report=a_report(location, ())))) == named

"""Whether code searches were shown what is to blame."""

import pytest

from evals.models.trace import Visit
from evals.scoring.scorer import score
from evals.triage.report_scorers import gold_lines_shown, gold_shown
from tests.builders.case import a_case
from tests.builders.trace import a_trace


def a_trace_that_read(*searches: tuple[str, ...]):
    visits = [Visit(node="codebase_search", superstep=n, read=read) for n, read in enumerate(searches)]
    return a_trace(visits=(Visit(node="investigator", superstep=0), *visits))


@pytest.mark.parametrize(
    ("read", "share"),
    [
        (("pkg/core.py::Cart.add", "pkg/tax.py::with_tax"), 1),
        (("pkg/core.py::Cart", "pkg/other.py::f"), 0.5),
        (("pkg/core.py", "pkg/tax.py::without_tax"), 0),
    ],
)
def test_it_is_the_share_of_gold_functions_by_their_outermost_name(read, share):
    case = a_case(gold_functions=("pkg/core.py::Cart", "pkg/tax.py::with_tax"))

    assert score(gold_shown, case, a_trace_that_read(read)).value == share


def test_where_no_function_is_to_blame_files_count():
    assert score(gold_shown, a_case(), a_trace_that_read(("pkg/core.py::Cart.add",))).value == 1


def test_a_labelled_alternative_may_be_shown_instead():
    case = a_case(gold_functions=("pkg/a.py::f",), alternative_functions=("pkg/b.py::g",))

    assert score(gold_shown, case, a_trace_that_read(("pkg/b.py::g",))).value == 1


def test_only_the_first_search_counts():
    case = a_case(gold_functions=("pkg/a.py::f",))

    assert score(gold_shown, case, a_trace_that_read(("pkg/b.py::g",), ("pkg/a.py::f",))).value == 0


def test_it_is_skipped_where_nothing_was_searched_or_is_to_blame():
    outcomes = [score(gold_shown, a_case(), a_trace()), score(gold_shown, a_case(gold_files=()), a_trace())]

    assert [outcome.kind for outcome in outcomes] == ["skipped", "skipped"]


def a_trace_shown(
    *searches: tuple[str, ...], fix_lines: tuple[str, ...] = ("pkg/a.py:8-11",), node: str = "codebase_search"
):
    visits = [Visit(node=node, superstep=n, places=places) for n, places in enumerate(searches)]
    return a_trace(visits=visits, fix_lines=fix_lines)


@pytest.mark.parametrize(
    ("searches", "share"),
    [
        ([("pkg/a.py:1-9", "pkg/b.py:8-11")], 0.5),
        ([("pkg/a.py:1-9",), ("pkg/a.py:9-10",)], 0.75),
        ([("pkg/b.py:1-99",)], 0),
        ([], 0),
    ],
)
def test_it_is_the_share_of_the_lines_of_the_fix_that_any_search_was_shown(searches, share):
    assert score(gold_lines_shown, a_case(), a_trace_shown(*searches)).value == share


def test_lines_in_several_places_count_alike():
    trace = a_trace_shown(("pkg/a.py:1-9",), fix_lines=("pkg/a.py:3-3", "pkg/a.py:9-10", "pkg/b.py:4-4"))

    assert score(gold_lines_shown, a_case(), trace).value == 0.5


def test_what_other_steps_were_shown_does_not_count():
    assert score(gold_lines_shown, a_case(), a_trace_shown(("pkg/a.py:1-20",), node="critic")).value == 0


def test_the_share_of_lines_is_skipped_where_the_lines_of_the_fix_are_not_known():
    assert score(gold_lines_shown, a_case(), a_trace_shown(("pkg/a.py:1-9",), fix_lines=())).kind == "skipped"

"""Whether the first code search was shown what is to blame."""

import pytest

from evals.models.trace import Visit
from evals.scoring.scorer import score
from evals.triage.root_cause_scorers import gold_shown
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

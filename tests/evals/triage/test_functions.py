"""Scores of the ranking of functions: as for files, by the outermost name."""

import pytest

from evals.scoring.scorer import score
from evals.triage.report_scorers import FUNCTIONS
from tests.builders.case import a_case
from tests.builders.trace import a_report, a_trace

TWO = a_case(gold_functions=["pkg/core.py::Worker", "pkg/io.py::read"])
BY_NAME = {each.name.removeprefix("root_cause."): each for each in FUNCTIONS}


def naming(*named):
    return a_trace(report=a_report(named[0] if named else None, named[1:]))


def values(names, case, trace):
    return [score(BY_NAME[name], case, trace).value for name in names]


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        (["pkg/core.py::Worker.run", "pkg/io.py::read"], [1, 0, 1, 1, 1, 1, 1, 1]),
        (["pkg/core.py::other", "pkg/io.py::read"], [1, 0, 0, 1 / 2, 1 / 4, 1 / 2, 1 / 2, 1 / 2]),
        (["pkg/core.py"], [0, 0, 0, 0, 0, 0, 0, 0]),
        ([], [0, 0, 0, 0, 0, 0, 0, 0]),
    ],
)
def test_the_ranking_scores_by_hand(named, expected):
    """A file without a function names none; hit@5, all@1, all@3, MRR, AP, precision, recall, F1."""
    subjects = (
        "function_hit_at_5",
        "function_all_at_1",
        "function_all_at_3",
        "function_mrr",
        "function_ap",
        "function_precision",
        "function_recall",
        "function_f1",
    )

    assert values(subjects, TWO, naming(*named)) == pytest.approx(expected)


@pytest.mark.parametrize("subject", FUNCTIONS, ids=lambda subject: subject.name)
@pytest.mark.parametrize("named", [[], ["pkg/core.py::run"]])
def test_where_no_function_is_to_blame_rankings_are_skipped(subject, named):
    assert score(subject, a_case(), naming(*named)).kind == "skipped"


@pytest.mark.parametrize("subject", FUNCTIONS, ids=lambda subject: subject.name)
def test_functions_no_source_states_are_not_scored(subject):
    case = a_case(gold_functions=["pkg/core.py::run"], tags=("unlabelled:functions",))

    assert score(subject, case, naming("pkg/core.py::run")).kind == "skipped"

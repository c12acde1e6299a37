"""Scores of the root cause."""

import pytest

from evals.scorers import root_cause as rc
from evals.scorers.scorer import score
from tests.builders.case import a_case
from tests.builders.trace import a_report, a_trace

TWO = a_case(gold_files=["pkg/core.py", "pkg/io.py"])


def naming(*files, **fields):
    return a_trace(report=a_report(files[0] if files else None, files[1:], **fields))


@pytest.mark.parametrize(
    ("gold", "named", "value"),
    [
        (["pkg/core.py"], ["pkg/core.py", "pkg/io.py"], 1),
        (["pkg/core.py"], ["pkg/io.py", "pkg/core.py"], 0),
        (["pkg/core.py"], [], 0),
        ([], [], 1),
        ([], ["pkg/core.py"], 0),
        ([], ["lib/made_up.py"], 0),
    ],
)
def test_a_hit_is_the_right_first_file_or_a_right_abstention(gold, named, value):
    assert score(rc.root_cause_hit, a_case(gold_files=gold), naming(*named)).value == value


def test_no_report_is_no_abstention():
    assert score(rc.root_cause_hit, a_case(gold_files=[]), a_trace(no_report=True)).value == 0


@pytest.mark.parametrize("gold", [["pkg/core.py"], []])
def test_a_labelled_alternative_is_as_good(gold):
    case = a_case(gold_files=gold, alternative_files=["pkg/io.py"])

    assert score(rc.root_cause_hit, case, naming("pkg/io.py")).value == 1


@pytest.mark.parametrize(
    ("named", "any3", "all3", "mrr", "ap", "precision", "recall"),
    [
        (["pkg/core.py", "pkg/io.py"], 1, 1, 1, 1, 1, 1),
        (["a.py", "pkg/io.py"], 1, 0, 1 / 2, 1 / 4, 1 / 2, 1 / 2),
        (["a.py", "b.py", "c.py", "pkg/io.py"], 0, 0, 1 / 4, 1 / 8, 1 / 4, 1 / 2),
        (["a.py", "pkg/io.py", "pkg/core.py"], 1, 1, 1 / 2, (1 / 2 + 2 / 3) / 2, 2 / 3, 1),
        ([], 0, 0, 0, 0, 0, 0),
    ],
)
def test_the_ranking_scores_by_hand(named, any3, all3, mrr, ap, precision, recall):
    scorers = (rc.file_hit_at_3, rc.file_all_at_3, rc.file_mrr, rc.file_ap, rc.set_precision, rc.set_recall)

    values = [score(subject, TWO, naming(*named)).value for subject in scorers]

    assert values == pytest.approx([any3, all3, mrr, ap, precision, recall])


def test_f1_is_the_harmonic_mean():
    assert score(rc.set_f1, TWO, naming("a.py", "pkg/io.py", "pkg/core.py")).value == pytest.approx(0.8)


def test_naming_the_whole_alternative_is_full_recall():
    case = a_case(gold_files=["pkg/core.py", "pkg/cli.py"], alternative_files=["pkg/io.py"])

    assert score(rc.set_recall, case, naming("pkg/io.py")).value == 1


@pytest.mark.parametrize(
    "subject",
    [
        rc.file_hit_at_3,
        rc.file_all_at_3,
        rc.file_mrr,
        rc.file_ap,
        rc.set_precision,
        rc.set_recall,
        rc.set_f1,
        rc.function_hit,
        rc.function_hit_at_3,
    ],
    ids=lambda subject: subject.name,
)
@pytest.mark.parametrize("named", [[], ["pkg/core.py::run"]])
def test_where_nothing_is_to_blame_rankings_are_skipped(subject, named):
    assert score(subject, a_case(gold_files=[]), naming(*named)).kind == "skipped"


def test_the_first_function_counts():
    case = a_case(gold_functions=["pkg/core.py::Worker"])
    trace = naming("pkg/io.py::read", "pkg/core.py::Worker.run")

    assert [score(s, case, trace).value for s in (rc.function_hit, rc.function_hit_at_3)] == [0, 1]


def test_grounding_is_the_share_of_files_that_exist():
    assert score(rc.grounding, a_case(), naming("pkg/core.py", "lib/made_up.py")).value == 0.5


def test_naming_nothing_is_neither_grounded_nor_ungrounded():
    assert score(rc.grounding, a_case(), naming()).kind == "skipped"


@pytest.mark.parametrize(("category", "value"), [("code", 1), ("environment", 0)])
def test_the_category_is_right_or_not(category, value):
    assert score(rc.category, a_case(), naming(category=category)).value == value

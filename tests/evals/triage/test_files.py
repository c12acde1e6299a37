"""Scores of the ranking of files, by hand and as scikit-learn has them."""

import pytest
from sklearn.metrics import precision_recall_fscore_support

from evals.scoring.scorer import score
from evals.triage.report_scorers import FILES
from tests.builders.case import a_case
from tests.builders.trace import a_report, a_trace

TWO = a_case(gold_files=["pkg/core.py", "pkg/io.py"])
BY_NAME = {each.name.removeprefix("root_cause."): each for each in FILES}


def naming(*named):
    return a_trace(report=a_report(named[0] if named else None, named[1:]))


def values(names, case, trace):
    return [score(BY_NAME[name], case, trace).value for name in names]


@pytest.mark.parametrize(
    ("named", "hits", "alls"),
    [
        (["pkg/core.py", "pkg/io.py"], [1, 1, 1], [0, 1, 1]),
        (["a.py", "pkg/io.py"], [0, 1, 1], [0, 0, 0]),
        (["a.py", "b.py", "c.py", "pkg/io.py"], [0, 0, 1], [0, 0, 0]),
        (["a.py", "b.py", "pkg/core.py", "pkg/io.py"], [0, 1, 1], [0, 0, 1]),
        ([], [0, 0, 0], [0, 0, 0]),
    ],
)
def test_what_stands_in_the_first_one_three_and_five_by_hand(named, hits, alls):
    """Two files are to blame: one place can never hold them both."""
    any_of_them = ("file_hit_at_1", "file_hit_at_3", "file_hit_at_5")
    all_of_them = ("file_all_at_1", "file_all_at_3", "file_all_at_5")

    assert [values(subjects, TWO, naming(*named)) for subjects in (any_of_them, all_of_them)] == [hits, alls]


@pytest.mark.parametrize(
    ("named", "mrr", "ap", "precision", "recall"),
    [
        (["pkg/core.py", "pkg/io.py"], 1, 1, 1, 1),
        (["a.py", "pkg/io.py"], 1 / 2, 1 / 4, 1 / 2, 1 / 2),
        (["a.py", "b.py", "c.py", "pkg/io.py"], 1 / 4, 1 / 8, 1 / 4, 1 / 2),
        (["a.py", "pkg/io.py", "pkg/core.py"], 1 / 2, (1 / 2 + 2 / 3) / 2, 2 / 3, 1),
        ([], 0, 0, 0, 0),
    ],
)
def test_the_ranking_scores_by_hand(named, mrr, ap, precision, recall):
    subjects = ("file_mrr", "file_ap", "set_precision", "set_recall")

    assert values(subjects, TWO, naming(*named)) == pytest.approx([mrr, ap, precision, recall])


@pytest.mark.parametrize(
    "named", [["pkg/core.py"], ["a.py", "pkg/io.py", "pkg/core.py"], ["a.py", "pkg/io.py"], ["a.py"]]
)
def test_precision_recall_and_f1_are_scikit_learns(named):
    everything = ["pkg/core.py", "pkg/io.py", "a.py"]
    gold, told = ([path in side for path in everything] for side in (TWO.labels.gold.files, named))
    expected = precision_recall_fscore_support(gold, told, average="binary", zero_division=0)[:3]

    assert values(("set_precision", "set_recall", "set_f1"), TWO, naming(*named)) == pytest.approx(expected)


@pytest.mark.parametrize("subject", FILES, ids=lambda subject: subject.name)
@pytest.mark.parametrize("named", [[], ["pkg/core.py"]])
def test_where_no_file_is_to_blame_rankings_are_skipped(subject, named):
    assert score(subject, a_case(gold_files=[]), naming(*named)).kind == "skipped"

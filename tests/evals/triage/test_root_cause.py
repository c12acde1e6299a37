"""Scores of the root cause."""

import pytest

from evals.scoring.scorer import score
from evals.triage import report_scorers as rc
from tests.builders.case import a_case
from tests.builders.trace import a_report, a_trace


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


def test_grounding_is_the_share_of_files_that_exist():
    assert score(rc.grounding, a_case(), naming("pkg/core.py", "lib/made_up.py")).value == 0.5


def test_naming_nothing_is_neither_grounded_nor_ungrounded():
    assert score(rc.grounding, a_case(), naming()).kind == "skipped"


@pytest.mark.parametrize(("category", "value"), [("code", 1), ("environment", 0)])
def test_the_category_is_right_or_not(category, value):
    assert score(rc.category, a_case(), naming(category=category)).value == value


@pytest.mark.parametrize(
    ("told", "value"),
    [
        ("An index is off by one.", 1.0),
        ("AN INDEX", 0.5),
        ("The index is wrong", 0.4),
        ("Nothing alike", 0.0),
        ("", 0.0),
    ],
)
def test_the_overlap_of_words_is_a_harmonic_mean(told, value):
    """The label has six words; two of two shared give 2 * 1 * (2/6) / (1 + 2/6) = 0.5, two of four give 0.4."""
    assert score(rc.text_overlap, a_case(), naming("pkg/core.py", root_cause=told)).value == pytest.approx(value)


def test_a_sentence_no_source_states_is_not_compared_with():
    case = a_case(tags=("unlabelled:root_cause",))

    assert score(rc.text_overlap, case, naming("pkg/core.py")).kind == "skipped"

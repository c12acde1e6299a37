"""When two issues count as one."""

import time

import pytest

from evals.triage.dataset.checks.whole_dataset_checks import issues_differ, titles_differ
from evals.triage.dataset.dataset_layout import Layout
from evals.triage.dataset.lint_types import Corpus, Surroundings
from tests.builders.case import a_case

STORY = "the export stops after the third page and nobody was told why it does that since the upgrade on monday"
LOG = "\n".join(f"2026-11-{number % 28:02} worker {number} did something {number * 7}" for number in range(2_000))


def a_corpus(tmp_path, *texts):
    cases = {
        f"case-{number}": a_case(f"case-{number}").model_copy(update={"title": title, "body": body})
        for number, (title, body) in enumerate(texts)
    }
    return Corpus(cases, Layout(tmp_path), Surroundings(), tmp_path)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (STORY, STORY.replace("monday", "friday")),
        (STORY, f"{LOG}\n{STORY}\n{LOG}"),
        ("注文の合計が小さすぎます。二冊目の値段だけ", "注文の合計が小さすぎます。一冊目の値段だけ"),
    ],
    ids=["a word changed", "a log around it", "no spaces between words"],
)
def test_the_same_story_is_found(tmp_path, one, other):
    assert [complaint.case for complaint in issues_differ(a_corpus(tmp_path, ("A", one), ("B", other)))] == ["case-1"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (STORY, "prices are rounded down in the second column although the manual promises half even everywhere"),
        ("注文の合計が小さすぎます", "ログインできなくなりました"),
        ("", ""),
    ],
)
def test_another_story_is_not(tmp_path, one, other):
    assert list(issues_differ(a_corpus(tmp_path, ("A", one), ("B", other)))) == []


def test_a_copy_is_told_which_case_it_is_most_like(tmp_path):
    changed = STORY.replace("monday", "friday")

    complaints = list(issues_differ(a_corpus(tmp_path, ("A", STORY), ("B", changed), ("C", f"{changed} and so on"))))
    assert [complaint.message.split(";")[0] for complaint in complaints][-1].endswith("the issue of case-1")
    assert len(complaints) == 2


def test_titles_in_the_same_words_are_found(tmp_path):
    corpus = a_corpus(tmp_path, ("Export stops after page three", "x"), ("export stops after page three!", "y"))

    assert [complaint.case for complaint in titles_differ(corpus)] == ["case-1"]


def test_short_titles_may_be_alike(tmp_path):
    assert list(titles_differ(a_corpus(tmp_path, ("It crashes", "x"), ("It crashes", "y")))) == []


@pytest.mark.slow
def test_eighty_issues_with_huge_logs_take_seconds(tmp_path):
    texts = [(f"Title {number}", f"{LOG * (number % 10 == 0)} {number} {STORY[number:]}") for number in range(80)]
    started = time.process_time()  # of this process alone, however busy the machine is
    list(issues_differ(a_corpus(tmp_path, *texts)))

    assert time.process_time() - started < 10

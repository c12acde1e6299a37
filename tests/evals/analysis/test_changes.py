"""What changed between two baselines, which cases turned, and since when they are red."""

from dataclasses import replace

import pytest

from evals.analysis.history_summary import turns
from evals.errors import ConfigurationError
from tests.builders.blessed import a_state, blessed
from tests.builders.dataset import write
from tests.builders.git import committed, git

CHANGES = {
    "prompt": ({"prompts": {"v5": "v5-2"}}, "prompt of v5"),
    "suite": ({"guards": "prd"}, "the suite's file: its variants, models or limits"),
    "labels": ({"labels": {"b": "2"}}, "labels, issue or code of b"),
    "scorers": ({"scorers": "scorers-2"}, "scorers"),
}


@pytest.mark.parametrize(("change", "text"), CHANGES.values(), ids=CHANGES.keys())
def test_a_change_is_one_mark_that_names_it(folder, told, change, text):
    blessed(folder, a_state())
    blessed(folder, a_state(**change).but("v5", {"a": 0.0}))

    assert [mark.text for mark in told().blessings[1].marks] == [text]


def test_new_and_lost_cases_are_a_change_of_the_dataset(folder, told):
    blessed(folder, a_state())
    passes = {"a": 1.0, "b": 1.0, "d": 1.0, "e": 1.0}
    blessed(folder, a_state(passes={"v1": passes, "v5": passes}))

    assert [mark.text for mark in told().blessings[1].marks] == ["2 cases new: d, e", "1 case gone: c"]


def test_new_and_lost_variants_are_a_change_of_the_suite(folder, told):
    blessed(folder, a_state())
    blessed(folder, a_state(passes={"v5": {"a": 1.0, "b": 1.0, "c": 0.0}, "v6": {"a": 1.0, "b": 1.0, "c": 0.0}}))

    assert [mark.text for mark in told().blessings[1].marks][1:] == ["new: v6", "gone: v1"]


def test_answers_of_another_model_are_a_change_that_numbers_do_not_go_on_across(folder, told):
    blessed(folder, a_state(answered_by={"v1": "large", "v5": "large"}))
    blessed(folder, a_state(answered_by={"v1": "large", "v5": "small"}))

    last = told().blessings[1]
    assert [(mark.kind, mark.text) for mark in last.marks] == [("model", "answers of v5: large → small")]
    assert not last.goes_on


@pytest.mark.parametrize("kind", ["labels", "scorers"])
def test_numbers_do_not_go_on_across_another_measure(folder, told, kind):
    blessed(folder, a_state())
    blessed(folder, a_state(**CHANGES[kind][0]).but("v5", {"a": 0.0}))

    assert not told().blessings[1].goes_on


def test_numbers_go_on_across_what_is_measured(folder, told):
    blessed(folder, a_state())
    blessed(folder, a_state(**CHANGES["prompt"][0]).but("v5", {"a": 0.0}))

    assert told().blessings[1].goes_on


def test_cases_that_turned_are_told_with_the_commit_that_did_it(folder, told):
    blessed(folder, a_state())
    blessed(folder, a_state().but("v5", {"a": 0.0, "c": 1.0}))

    flips = told().blessings[1].flips

    assert [(flip.case, flip.was, flip.now) for flip in flips] == [("a", 1, 0), ("c", 0, 1)]
    assert not any(flip.relabelled for flip in flips)


def test_a_case_whose_labels_changed_too_is_marked(folder, told):
    blessed(folder, a_state())
    blessed(folder, a_state(labels={"a": "2"}).but("v5", {"a": 0.0, "b": 0.0}))

    assert {flip.case: flip.relabelled for flip in told().blessings[1].flips} == {"a": True, "b": False}


def test_a_turn_behind_a_baseline_that_cannot_be_read_is_not_lost(folder, told):
    blessed(folder, a_state())
    write(folder / "evals/suites/baselines/prompts.json", "<<<<<<< a conflict")
    committed(folder, "broken")
    blessed(folder, a_state().but("v5", {"a": 0.0}))

    found = told()

    assert found.blessings[1].unread == "its baseline cannot be read"
    assert [flip.case for flip in found.blessings[2].flips] == ["a"]
    assert not found.blessings[2].goes_on


def test_a_red_case_is_red_since_it_last_passed(folder, told):
    blessed(folder, a_state())
    sha = blessed(folder, a_state(scorers="2").but("v5", {"a": 0.0}))
    blessed(folder, a_state(scorers="2", prompts={"v1": "v1-2"}).but("v5", {"a": 0.0}))

    red = next(one for one in told().red if one.case == "a")

    assert (red.variant, red.since, red.baselines, red.always, red.relabelled) == ("v5", sha, 2, False, ())


def test_a_case_turned_at_the_commit_that_last_made_it_fail(folder, told):
    blessed(folder, a_state())
    blessed(folder, a_state().but("v5", {"a": 0.0}))
    blessed(folder, a_state())
    sha = blessed(folder, a_state(prompts={"v5": "v5-2"}).but("v5", {"a": 0.0}), "worse for a")
    blessed(folder, a_state(prompts={"v5": "v5-2"}).but("v5", {"a": 0.0, "b": 0.0}))

    turn = {(one.variant, one.endpoint): one for one in turns(told(), "a")}["v5", "route.pass"]

    assert (turn.by.commit, turn.by.subject, turn.was, turn.now, turn.flips) == (sha, "worse for a", 1, 0, 3)
    assert [mark.text for mark in turn.by.marks] == ["prompt of v5"]


def test_a_graded_endpoint_turns_at_any_change(folder, told):
    blessed(folder, a_state(grades={"a": 0.5}))
    sha = blessed(folder, a_state(grades={"a": 0.0}))

    assert {one.by.commit for one in turns(told(), "a") if one.endpoint == "decision.score"} == {sha}


def test_a_case_no_baseline_knows_is_one_clear_error(folder, told):
    blessed(folder, a_state())

    with pytest.raises(ConfigurationError, match="nosuch: the last baseline of prompts has no score"):
        turns(told(), "nosuch")


def test_labels_are_those_of_the_commit_not_of_today(folder, told):
    """Another gold node changes how grades are averaged; the old baseline keeps its number."""
    state = a_state(grades={"a": 0.0})
    blessed(folder, state)
    before = told().blessings[0].summaries
    now = replace(state, labels={"a": "2"})
    blessed(folder, now)
    path = folder / "datasets/triage/cases/a/case.yaml"
    write(path, path.read_text(encoding="utf-8").replace("critic: 1.0", "writer: 1.0"))
    git(folder, "commit", "--all", "--amend", "--quiet", "--no-edit")

    first, second = told().blessings

    assert first.summaries == before
    assert [one.mean for one in second.summaries if one.scorer == "decision.score"] != [
        one.mean for one in before if one.scorer == "decision.score"
    ]

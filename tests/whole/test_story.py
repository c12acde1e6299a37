"""From nothing to green, over real HTTP on loopback: record, run, bless, run again."""

import json

import pytest

pytestmark = pytest.mark.slow


def test_recording_asks_for_what_is_missing_and_proves_it(story):
    _, steps, asked = story

    assert steps["recorded"].code == 0, steps["recorded"].err
    assert "4 of 4 trials replay exactly" in steps["recorded"].out
    assert asked["recorded"] > 0


def test_recording_again_asks_nothing(story):
    _, steps, asked = story

    assert (steps["recorded again"].code, asked["recorded again"]) == (0, asked["recorded"])


def test_the_first_run_cannot_be_judged_for_want_of_a_baseline_only(story):
    said = story[1]["first run"]

    assert said.code == 3
    assert "Cannot judge new: tiny has no baseline yet" in said.out
    assert "coverage too low" not in said.out


def test_the_blessed_suite_is_green_and_its_second_run_reuses_every_trial(story):
    _, steps, _ = story

    assert steps["blessed"].code == 0
    assert steps["second run"].code == 0, steps["second run"].out
    assert "4 reused unchanged" in steps["second run"].out


def test_the_run_that_was_written_says_what_the_exit_code_says(story):
    run = json.loads((story[0] / "reports" / "latest" / "run.json").read_text())

    assert (run["verdict"]["exit_code"], run["coverage"]["new"]["exact"]) == (0, 2)
    assert {trial["trace"]["provenance"]["label"] for trial in run["trials"]} == {"exact"}

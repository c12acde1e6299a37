"""Held-out cases in a whole run: left out by default, scored on request, and every request counted."""

import json

import pytest
import yaml

from tests.builders.checkout import evals

pytestmark = pytest.mark.slow

COUNT = "datasets/holdout.yaml"


@pytest.fixture
def sealed(checkout):
    """The recorded checkout, with one of its two cases held out, and blessed that way."""
    labels = checkout / "datasets" / "triage" / "cases" / "wrong-sum" / "case.yaml"
    labels.write_text(yaml.safe_dump(yaml.safe_load(labels.read_text()) | {"split": "holdout"}))
    assert evals(checkout, "bless", "tiny.yaml").code == 0
    return checkout


def cases_of(checkout):
    return [case["id"] for case in json.loads((checkout / "reports" / "latest" / "run.json").read_text())["cases"]]


def test_held_out_cases_are_left_out_and_said_to_be(sealed):
    said = evals(sealed, "run", "tiny.yaml")

    assert (said.code, cases_of(sealed)) == (0, ["wrong-total"])
    assert "1 held out. The held-out cases have never been scored." in said.out
    assert not (sealed / COUNT).exists()


def test_opening_them_scores_them_without_a_baseline_and_is_counted(sealed):
    said = evals(sealed, "run", "tiny.yaml", "--open-holdout", "final check")

    assert (said.code, cases_of(sealed)) == (0, ["wrong-sum", "wrong-total"])
    assert "The held-out cases have been scored once." in said.out
    assert yaml.safe_load((sealed / COUNT).read_text())["openings"][0]["why"] == "final check"


def test_without_a_reason_nothing_is_opened(sealed):
    said = evals(sealed, "run", "tiny.yaml", "--open-holdout", "")

    assert (said.code, (sealed / COUNT).exists()) == (2, False)
    assert "needs a reason" in said.err


def test_naming_a_held_out_case_does_not_open_it(sealed):
    said = evals(sealed, "run", "tiny.yaml", "--case", "wrong-sum")

    assert said.code == 3
    assert 'every selected case is held out; `--open-holdout "why"` scores them, and counts' in said.err


def test_a_case_nobody_recorded_is_named_as_such(checkout):
    (checkout / "cassettes" / "wrong-sum.yaml").unlink()

    said = evals(checkout, "run", "tiny.yaml")

    assert (said.code, "1 of the 2 not recorded yet" in said.out) == (3, True)
    assert json.loads((checkout / "reports" / "latest" / "run.json").read_text())["scope"]["unrecorded"] == [
        "wrong-sum"
    ]

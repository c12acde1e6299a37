"""A recorded and blessed suite over time: what its history says is what its run said; and one trial explained."""

import json

import pytest

from evals.models.analysis_results import History
from tests.builders.checkout import evals
from tests.builders.git import committed, git

pytestmark = pytest.mark.slow


@pytest.fixture
def blessed(checkout):
    """The checkout in a repository of its own, its baseline committed."""
    git(checkout, "init", "--quiet", "--initial-branch=main")
    committed(checkout, "Blessed for the first time")
    return checkout


def test_the_history_says_what_the_run_said(blessed):
    said = evals(blessed, "history", "tiny.yaml")
    run = json.loads((blessed / "reports/latest/run.json").read_text(encoding="utf-8"))
    told = History.model_validate_json((blessed / "reports/history/history.json").read_bytes())

    ours = {(one.variant, one.scorer): one for one in told.blessings[0].summaries}
    theirs = {(one["variant"], one["scorer"]): one for one in run["summaries"]}

    assert said.code == 0, said.err
    assert ours
    for key, one in ours.items():
        expected = theirs[key]
        assert (one.n, one.mean, one.hits) == (expected["n"], pytest.approx(expected["mean"]), expected["hits"])
        if not one.scorer.startswith("cost."):
            assert (one.low, one.high) == pytest.approx((expected["low"], expected["high"]))


def test_the_terminal_names_the_commit_the_folder_and_what_is_not_known(blessed):
    said = evals(blessed, "history", "tiny.yaml").out

    assert git(blessed, "rev-parse", "--short=7", "HEAD").stdout.strip() in said
    assert "1 baseline, blessed from" in said
    assert said.rstrip().endswith("Report: reports/history/index.html")


def test_page_and_json_are_written_where_they_are_asked_for(blessed, tmp_path):
    evals(blessed, "history", "tiny.yaml", "--out", str(tmp_path / "there"))

    assert sorted(path.name for path in (tmp_path / "there").iterdir()) == ["history.json", "index.html"]


def test_a_case_is_told_when_it_turned_and_nothing_is_written(blessed):
    said = evals(blessed, "history", "tiny.yaml", "--bisect", "wrong-sum")

    assert said.code == 0
    assert "When wrong-sum turned, over 1 baseline of tiny" in said.out
    assert "never, as far as" in said.out
    assert not (blessed / "reports/history").exists()


REFUSED = {
    "no such suite": (("history", "nosuch"), 3, "no baseline of nosuch in git"),
    "no such suite file": (("history", "nosuch.yaml"), 2, "no suite 'nosuch.yaml'"),
    "no such case": (("history", "tiny.yaml", "--bisect", "nosuch"), 2, "has no score of such a case"),
    "nothing to explain": (("explain", "nosuch", "--suite", "tiny.yaml"), 2, "no such case: nosuch"),
    "no such variant": (("explain", "wrong-sum", "--suite", "tiny.yaml", "--variant", "x"), 2, "no variant x"),
    "one and two": (
        ("explain", "wrong-sum", "--suite", "tiny.yaml", "--variant", "old", "--diff", "old", "new"),
        2,
        "leave one of them out",
    ),
}


@pytest.mark.parametrize(("words", "code", "cause"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_told_is_one_line_and_its_exit_code(blessed, words, code, cause):
    said = evals(blessed, *words)

    assert (said.code, said.err.count("\n")) == (code, 1)
    assert cause in said.err


def test_outside_of_a_repository_it_is_one_line(checkout, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(checkout.parent))

    said = evals(checkout, "history", "tiny.yaml")

    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "is no git repository" in said.err


def test_a_trial_is_explained_from_the_issue_to_the_report(checkout):
    said = evals(checkout, "explain", "wrong-sum", "--suite", "tiny.yaml")

    assert said.code == 0, said.err
    for words in ("The label wants", "new: exact", "1  investigator", "chose", "knew", "What came of it", "output"):
        assert words in said.out


def test_two_variants_stand_side_by_side(checkout):
    said = evals(checkout, "explain", "wrong-sum", "--suite", "tiny.yaml", "--diff", "old", "new")

    assert any("old: exact" in line and "new: exact" in line for line in said.out.splitlines())
    assert "new takes the same route as old" in said.out


def test_a_piped_explanation_is_plain_and_no_wider_than_a_log(checkout):
    said = evals(checkout, "explain", "wrong-sum", "--suite", "tiny.yaml", "--diff", "old", "new").out

    assert "\x1b" not in said
    assert max(map(len, said.splitlines())) <= 120


def test_a_trial_nobody_recorded_says_so(checkout):
    (checkout / "cassettes" / "wrong-sum.yaml").unlink()

    said = evals(checkout, "explain", "wrong-sum", "--suite", "tiny.yaml")

    assert said.code == 0
    assert "unrecorded" in said.out

"""Which baselines are found: through renames, merges, squashed branches, deletions and clones that lack something."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from evals.cli.history_command import suite_history as history
from evals.errors import CannotJudgeError
from tests.builders.blessed import a_repository, a_state, blessed, files_of, head
from tests.builders.dataset import write
from tests.builders.git import committed, git


def commits(told) -> list[str]:
    return [each.commit for each in told.blessings]


def renamed(folder: Path, state, name: str):
    """The suite under another name, blessed anew in the same commit."""
    for path in files_of(state):
        if Path(path).stem == state.suite:
            git(folder, "rm", "--quiet", path)
    return replace(state, suite=name)


def test_every_commit_that_changed_the_baseline_is_there_in_order(folder, told):
    first = blessed(folder, a_state())
    write(folder / "README.md", "nothing of it")
    committed(folder, "other")
    second = blessed(folder, a_state(scorers="scorers-2"))

    assert commits(told()) == [first, second]


def test_a_suite_is_followed_to_the_name_it_had_before(folder, told):
    old = a_state(suite="starter")
    first = blessed(folder, old)
    second = blessed(folder, renamed(folder, old.but("v5", {"c": 1.0}), "prompts"))

    found = told()

    assert commits(found) == [first, second]
    assert [mark.kind for mark in found.blessings[1].marks] == ["renamed"]


def test_a_squashed_branch_that_renames_and_blesses_is_one_step(folder, told):
    first = blessed(folder, a_state(suite="starter"))
    git(folder, "checkout", "--quiet", "-b", "work")
    state = a_state(suite="starter").but("v5", {"a": 0.0})
    blessed(folder, state)
    blessed(folder, renamed(folder, state.but("v5", {"b": 0.0}), "prompts"))
    git(folder, "checkout", "--quiet", "main")
    git(folder, "merge", "--squash", "work")
    committed(folder, "squashed")

    found = told()

    assert commits(found) == [first, head(folder)]
    assert {flip.case for flip in found.blessings[1].flips} == {"a", "b"}


def test_what_a_merged_branch_blessed_came_with_the_merge(folder, told):
    first = blessed(folder, a_state())
    git(folder, "checkout", "--quiet", "-b", "work")
    blessed(folder, a_state().but("v5", {"a": 0.0}))
    blessed(folder, a_state().but("v5", {"a": 0.0, "b": 0.0}))
    git(folder, "checkout", "--quiet", "main")
    git(folder, "merge", "--quiet", "--no-ff", "-m", "merged", "work")

    found = told()

    assert commits(found) == [first, head(folder)]
    assert [flip.case for flip in found.blessings[1].flips] == ["a", "b"]


def test_a_baseline_that_was_taken_away_and_came_back_says_so(folder, told):
    blessed(folder, a_state())
    git(folder, "rm", "--quiet", "evals/suites/baselines/prompts.json")
    committed(folder, "away")
    away = head(folder)
    blessed(folder, a_state())

    last = told().blessings[-1]

    assert [(mark.kind, away[:7] in mark.text) for mark in last.marks] == [("gone", True)]
    assert not last.goes_on


def test_a_suite_that_is_gone_still_has_its_history(folder, told):
    blessed(folder, a_state())
    git(folder, "rm", "--quiet", "evals/suites/baselines/prompts.json")
    committed(folder, "away")

    assert told().missing == (f"The baseline was removed in {head(folder)[:7]}; this is what it was until then.",)


def test_a_baseline_that_is_not_committed_yet_is_said_to_be_no_part(folder, told):
    blessed(folder, a_state())
    assert told().missing == ()

    for path, text in files_of(a_state(scorers="scorers-2")).items():
        write(folder / path, text)

    assert told().missing == ("The baseline in the checkout is not committed: it is no part of this yet.",)
    assert len(told().blessings) == 1


def test_a_shallow_clone_says_what_is_missing(folder, tmp_path):
    for scorers in ("1", "2", "3"):
        blessed(folder, a_state(scorers=scorers))
    git(tmp_path, "clone", "--quiet", "--depth=2", folder.as_uri(), "shallow")

    found = history("prompts", tmp_path / "shallow")

    assert "shallow" in found.missing[0]
    assert "git fetch --unshallow" in found.missing[0]
    assert len(found.blessings) == 2


def test_a_partial_clone_is_one_clear_error_and_fetches_nothing(folder, tmp_path):
    for scorers in ("1", "2"):
        blessed(folder, a_state(scorers=scorers))
    git(folder, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "--quiet", "--filter=blob:none", folder.as_uri(), "partial")

    with pytest.raises(CannotJudgeError, match="does not hold all of its history"):
        history("prompts", tmp_path / "partial")


def test_a_checkout_below_the_top_of_its_repository_reads_its_own_baselines(tmp_path):
    a_repository(tmp_path / "top")
    blessed(tmp_path / "top", a_state().but("v5", {"a": 0.0, "b": 0.0}))
    write(tmp_path / "top" / "below" / "datasets" / "policy.yaml", "")
    for path, text in files_of(a_state()).items():
        write(tmp_path / "top" / "below" / path, text)
    committed(tmp_path / "top", "below")

    found = history("prompts", tmp_path / "top" / "below")

    assert commits(found) == [head(tmp_path / "top")]
    assert found.blessings[0].unread is None
    assert found.now["v5"]["route.pass"] == {"a": 1.0, "b": 1.0, "c": 0.0}


def test_names_and_dates_are_those_of_the_author(folder, told):
    blessed(folder, a_state())
    git(
        folder,
        "commit",
        "--amend",
        "--quiet",
        "--no-edit",
        "--author=Ada <a@example.invalid>",
        "--date=2020-02-03T10:00",
    )

    first = told().blessings[0]

    assert (first.author, first.date, first.subject) == ("Ada", "2020-02-03", "bless")


def test_a_suite_nobody_ever_blessed_is_one_clear_error(folder, told):
    blessed(folder, a_state())

    with pytest.raises(CannotJudgeError, match="no baseline of nosuch in git"):
        told("nosuch")


def test_a_repository_without_a_commit_is_one_clear_error(folder, told):
    with pytest.raises(CannotJudgeError, match="commit a baseline first"):
        told()


def test_more_baselines_start_no_more_processes(folder, told, monkeypatch):
    started = []
    popen = subprocess.Popen

    class Counted(popen):
        def __init__(self, command, *args, **kwargs):
            started.append(command)
            super().__init__(command, *args, **kwargs)

    def processes() -> int:
        with monkeypatch.context() as patch:
            patch.setattr(subprocess, "Popen", Counted)
            started.clear()
            told()
        return len(started)

    blessed(folder, a_state())
    for_one = processes()
    for number in range(5):
        blessed(folder, a_state(scorers=str(number)))

    assert processes() == for_one

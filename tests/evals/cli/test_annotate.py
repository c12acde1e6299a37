"""Annotations are for GitHub: elsewhere they are printed on request only."""

import pytest

from evals.cli.terminal import annotate
from tests.builders.git import committed, git
from tests.builders.run import a_run

PATH = "triage/prompts/supervisor/v3.md"


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A prompt of one line, edited since the last commit; no CI."""
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    monkeypatch.delenv("GITHUB_BASE_REF", raising=False)
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    prompt = tmp_path / PATH
    prompt.parent.mkdir(parents=True)
    prompt.write_text("before\n", encoding="utf-8")
    committed(tmp_path, "start")
    prompt.write_text("after\n", encoding="utf-8")
    return tmp_path


def test_at_a_desk_nothing_is_printed(repository, capsys):
    annotate(a_run(), repository, asked=False)

    assert capsys.readouterr().out == ""


def test_on_github_the_verdict_stands_on_the_changed_line(repository, capsys, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")

    annotate(a_run(), repository, asked=False)

    assert capsys.readouterr().out == (f"::notice file={PATH},line=1,endLine=1,title=not worse::Nothing broke.\n")


def test_a_pull_request_is_measured_from_its_base(repository, capsys, monkeypatch):
    """All of the branch counts there, though nothing is left to commit."""
    monkeypatch.setenv("GITHUB_BASE_REF", "main")
    git(repository, "update-ref", "refs/remotes/origin/main", "HEAD")
    committed(repository, "edit")

    annotate(a_run(), repository, asked=True)

    assert f"file={PATH},line=1" in capsys.readouterr().out

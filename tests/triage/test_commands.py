"""What stands around a job: listing and deleting, checking the set-up, how much is said, and Ctrl-C at the prompt."""

import os
from pathlib import Path

import pytest

from tests.builders.desk import AGAIN, NEW, a_desk, triage_at
from tests.builders.llm_server import answering
from tests.builders.pseudo_terminal import at_a_terminal, read_until
from tests.builders.unruly import only, refusing
from triage.cli import main

CHECKOUT = Path(__file__).parents[2]
ASKING = ("investigator", "human_input")


@pytest.fixture
def desk(tmp_path, monkeypatch):
    return a_desk(tmp_path, monkeypatch)


def a_team_that_asks():
    stops = iter(ASKING)
    return answering(lambda _: next(stops, "writer"), confidence=0.9)


def test_jobs_are_listed_with_what_they_wait_for(desk, monkeypatch, capsys):
    with triage_at(monkeypatch, a_team_that_asks()) as (triage, llm):
        triage("run", "--repo", "shop", *NEW)
        llm.answer = refusing(503)
        triage("run", "--repo", "shop", "--issue", "issue.md", "--job-id", "two")
        llm.answer = answering()
        triage("run", "--repo", "shop", "--issue", "issue.md", "--job-id", "three")
    capsys.readouterr()

    assert main(["jobs"]) == 0
    three, two, one = capsys.readouterr().out.splitlines()
    assert "llm  report written  (Cart total is wrong)" in three
    assert "llm  stopped before supervisor" in two
    assert "llm  waits for an answer: Which?" in one


def test_a_job_is_shown_at_length(desk, monkeypatch, capsys):
    with triage_at(monkeypatch, only(["critic"], refusing(500))) as (triage, _):
        triage("run", "--repo", "shop", *NEW)
    capsys.readouterr()

    assert main(["jobs", "show", "one"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("one: Cart total is wrong\n  report written\n  begun with llm, prompt v6, guards hardened")
    assert "critic failed: OpenAIAPIError" in shown


def test_a_deleted_job_is_gone_with_its_files(desk, monkeypatch, capsys):
    with triage_at(monkeypatch) as (triage, _):
        triage("run", "--repo", "shop", *NEW)
        assert main(["jobs", "delete", "one"]) == 0
        assert triage("run", *AGAIN) == 2

    assert "no job is called 'one'" in capsys.readouterr().err
    assert not (desk / ".triage/one/report.md").exists()


@pytest.mark.parametrize("command", ["show", "delete"])
def test_a_job_that_is_not_there_is_one_line(command, desk, capsys):
    assert main(["jobs", command, "one"]) == 2

    assert "no job is called 'one'; `triage jobs` lists them" in capsys.readouterr().err


def test_where_no_job_is_stored_none_is_listed(desk, capsys):
    assert main(["jobs"]) == 0

    assert capsys.readouterr().out == "no job is stored in .triage/jobs.sqlite\n"
    assert not (desk / ".triage").exists()


def test_a_damaged_file_of_jobs_is_not_listed(desk, capsys):
    (desk / "broken.sqlite").write_text("not a database, but long enough to be taken for one")

    assert main(["jobs", "--jobs", "broken.sqlite"]) == 2
    assert "broken.sqlite: jobs cannot be kept there (file is not a database)" in capsys.readouterr().err


def test_the_set_up_is_checked_line_by_line(desk, monkeypatch, capsys):
    with triage_at(monkeypatch, a_ready_word) as (triage, llm):
        assert triage("check", "--model", "local") == 0

    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith(f"ok     local at {llm.base_url} (supervisor, investigator, ")
    assert told[0].endswith(": answers, and holds to a schema")
    assert told[1] == f"ok     search at {llm.search_url}: answers"


def test_a_set_up_that_does_not_work_is_an_outage(desk, monkeypatch, capsys):
    with triage_at(monkeypatch, refusing(401)) as (triage, llm):
        monkeypatch.setenv("TRIAGE_AGENT_URLS", '{"critic": "http://127.0.0.1:9"}')
        assert triage("check", "--model", "local") == 3

    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith("FAILED local at ")
    assert told[0].endswith(f"HTTP 401 from {llm.base_url}/chat/completions; is TRIAGE_API_KEY right?")
    assert told[2].startswith("FAILED critic at http://127.0.0.1:9: ")


def a_ready_word(*_):
    content = '{"choices": [{"index": 0, "message": {"role": "assistant", "content": "{\\"word\\": \\"ready\\"}"}}]}'
    return 200, "application/json", content.encode()


def test_without_a_key_for_the_search_nothing_is_sent_and_the_visit_is_no_success(desk, monkeypatch, capsys):
    stops = iter(["investigator", "web_search", "codebase_search", "writer"])
    team = answering(lambda _: next(stops))
    with triage_at(monkeypatch, team) as (triage, llm):
        monkeypatch.delenv("TRIAGE_TAVILY_BASE_URL")
        assert triage("run", "--repo", "shop", *NEW) == 0

    told = capsys.readouterr().err
    assert told.splitlines()[1] == "the web is not searched: TRIAGE_TAVILY_API_KEY is not set"
    assert "web_search: failed (ConfigurationError: the web was not searched" in told
    assert "web_search" not in llm.asked
    assert "web_search failed once" in (desk / ".triage/one/report.md").read_text()


def test_a_verbose_job_shows_each_call_and_each_finding(desk, monkeypatch, capsys):
    with triage_at(monkeypatch) as (triage, _):
        triage("run", "--repo", "shop", *NEW, "--verbose")

    told = capsys.readouterr().err
    assert "      investigator asked m: 1 + 1 tokens, " in told
    assert "      Quantities are overwritten.\n      cart\n" in told


def test_the_version_is_told(capsys):
    assert main(["--version"]) == 0

    assert capsys.readouterr().out.startswith("triage 0.")


@pytest.mark.slow
def test_control_c_at_the_prompt_ends_the_sitting_at_once_and_loses_no_answer(desk, monkeypatch):
    """At a pseudo-terminal: asked, interrupted, and answered in another process."""
    monkeypatch.setenv("PYTHONPATH", str(CHECKOUT))
    with triage_at(monkeypatch, a_team_that_asks()) as (_, llm):
        job, terminal = at_a_terminal("run", "--repo", "shop", *NEW)
        read_until(terminal, b"Answer: ")
        os.write(terminal, b"\x03")
        told = read_until(terminal, b"--repo shop")
        assert job.wait(timeout=300) == 130
        assert b"interrupted; the job is kept: triage run --resume --job-id one" in told

        job, terminal = at_a_terminal("run", *AGAIN)
        read_until(terminal, b"Answer: ")
        os.write(terminal, b"MySQL\n")
        read_until(terminal, b"wrote")
        assert job.wait(timeout=300) == 0
    assert llm.asked.count("investigator") == 1

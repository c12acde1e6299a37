"""The command: whole jobs against a server on loopback, and one clear line for everything that can go wrong."""

import io
import json
import os
import re
import sys
from pathlib import Path

import pytest

from tests.builders.endpoint import Endpoint, a_decision, a_team
from tests.builders.loopback import serving
from triage.cli import main
from triage.settings import Settings, unknown_variables

CHECKOUT = Path(__file__).parents[2]
ASK = a_decision("human_input", question="Which database?", question_context="Two are supported.")


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A folder with an issue and a checkout, and an environment without settings."""
    for name in [name for name in os.environ if name.startswith("TRIAGE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TRIAGE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("TRIAGE_RETRY_JITTER", "false")  # no waits between attempts
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(CHECKOUT))  # commands run as processes of their own start in this folder
    (tmp_path / "issue.md").write_text("# Cart total is wrong\n\nAdding two items charges for one.\n")
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "cart.py").write_text("def add(cart, item):\n    cart[item] = 1\n")
    return tmp_path


def triage(endpoint: Endpoint, monkeypatch, *arguments: str, typed: str = "") -> int:
    """Run `triage run` with `typed` on standard input."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    with serving(endpoint) as url:
        monkeypatch.setenv("TRIAGE_BASE_URL", url)
        return main(["run", "--repo", "shop", *arguments])


NEW = ("--issue", "issue.md", "--job-id", "one")
AGAIN = ("--resume", "--job-id", "one")


def test_a_job_leaves_a_report_a_comment_and_a_ticket(desk, monkeypatch):
    assert triage(a_team("investigator", "codebase_search", "writer"), monkeypatch, *NEW, "--out", "results") == 0

    assert "**Root cause:** Quantities are overwritten." in (desk / "results" / "report.md").read_text()
    assert (desk / "results" / "comment.md").read_text().startswith("## Triage")
    assert json.loads((desk / "results" / "ticket.json").read_text())["title"] == "Cart loses quantities"


def test_every_step_is_told(desk, monkeypatch, capsys):
    triage(a_team("codebase_search", "critic", "writer", critic=[500]), monkeypatch, *NEW)

    told = capsys.readouterr().err
    assert "-> investigator (not codebase_search: investigator_first), confidence 0.90: It is next." in told
    assert "investigator: s" in told
    assert "critic: failed (OpenAIAPIError: Error code: 500" in told


def test_the_issue_may_be_what_gh_prints(desk, monkeypatch):
    (desk / "issue.json").write_text(
        json.dumps({"title": "Wrong total", "body": "Oh no.", "url": "https://x.invalid/1"})
    )
    team = a_team("investigator", "writer")
    triage(team, monkeypatch, "--issue", "issue.json")

    assert "Wrong total" in team.messages("investigator")[1]
    assert "https://x.invalid/1" in team.messages("writer")[1]


def test_the_issue_may_come_from_standard_input(desk, monkeypatch):
    team = a_team("investigator", "writer")
    assert triage(team, monkeypatch, "--issue", "-", typed="Wrong total\n\nOh no.\n") == 0

    assert "Wrong total" in team.messages("investigator")[1]


def test_the_human_is_asked_at_the_terminal(desk, monkeypatch, capsys):
    team = a_team("investigator", ASK, "writer")
    assert triage(team, monkeypatch, *NEW, typed="MySQL\n") == 0

    assert "Question: Which database?\n  Two are supported." in capsys.readouterr().err
    assert "A: MySQL" in team.messages("supervisor", 2)[1]


def test_enter_alone_uses_up_no_question(desk, monkeypatch):
    team = a_team("investigator", ASK, "writer")
    assert triage(team, monkeypatch, *NEW, typed="\n  \nMySQL\n") == 0

    assert "A: MySQL" in team.messages("supervisor", 2)[1]


def test_enter_alone_and_no_more_leaves_the_job_waiting(desk, monkeypatch, capsys):
    assert triage(a_team("investigator", ASK, "writer"), monkeypatch, *NEW, typed="\n") == 4

    assert "waiting for an answer; the job is kept" in capsys.readouterr().err


def test_model_text_is_never_markup(desk, monkeypatch, capsys):
    odd = a_decision("investigator", reasoning="[red]not a colour[/red] [/] [link=x]")
    triage(a_team(odd, "writer"), monkeypatch, *NEW)

    assert "[red]not a colour[/red] [/] [link=x]" in capsys.readouterr().err


def test_a_job_can_be_left_at_a_question_and_resumed(desk, monkeypatch, capsys):
    assert triage(a_team("investigator", ASK), monkeypatch, *NEW) == 4
    assert "triage run --resume --job-id one --repo shop" in capsys.readouterr().err

    team = a_team("writer")
    assert triage(team, monkeypatch, *AGAIN, typed="MySQL\n") == 0
    assert team.count("investigator") == 0
    assert "A: MySQL" in team.messages("supervisor")[1]


def test_a_failing_endpoint_is_one_line_and_the_job_goes_on_later(desk, monkeypatch, capsys):
    assert triage(a_team("investigator", supervisor=[503]), monkeypatch, *NEW) == 3
    assert "the endpoint failed (HTTP 503" in capsys.readouterr().err

    assert triage(a_team("investigator", "writer"), monkeypatch, *AGAIN) == 0


def test_an_endpoint_that_is_down_is_one_line(desk, monkeypatch, capsys):
    monkeypatch.setenv("TRIAGE_BASE_URL", "http://127.0.0.1:9/v1")  # the discard port: nobody listens there

    assert main(["run", "--repo", "shop", *NEW]) == 3
    assert (
        "the endpoint failed (Connection error. http://127.0.0.1:9/v1/chat/completions); the job is kept"
        in capsys.readouterr().err
    )


def test_a_finished_job_can_be_resumed_for_its_results(desk, monkeypatch):
    triage(a_team("investigator", "writer"), monkeypatch, *NEW)
    team = a_team("writer")
    assert triage(team, monkeypatch, *AGAIN, "--out", "again") == 0

    assert team.asked == []
    assert (desk / "again" / "report.md").is_file()


def test_a_writer_that_fails_is_told_and_is_no_success(desk, monkeypatch, capsys):
    broken = {"writer-ticket": [{"labels": []}]}
    assert triage(a_team("investigator", "writer", **broken), monkeypatch, *NEW) == 4

    assert "no ticket was written (" in capsys.readouterr().err
    assert "Quantities are overwritten." in (desk / ".triage" / "one" / "report.md").read_text()


def test_a_looping_guard_set_is_one_line(desk, monkeypatch, capsys):
    assert triage(a_team("critic"), monkeypatch, *NEW, "--guards", "none", "--max-iterations", "2") == 4

    assert "guard set 'none' let the job go round in circles" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "no issue: give --issue FILE"),
        (["--issue", "nowhere.md"], "nowhere.md: no such issue file"),
        (["--issue", "empty.md"], "empty.md: the issue is empty"),
        (["--issue", "binary.md"], "binary.md: the issue cannot be read (not UTF-8 text)"),
        (["--issue", "shop"], "shop: the issue cannot be read (Is a directory)"),
        (["--issue", "broken.json"], "broken.json:1: not valid JSON"),
        (["--issue", "untitled.json"], "untitled.json: the JSON has no title"),
        (["--issue", "issue.md", "--repo", "nowhere"], "nowhere: no such folder"),
        (["--issue", "issue.md", "--repo", "hollow"], "hollow: there is no text file to search in"),
        (["--issue", "issue.md", "--prompt", "v9"], "v9: no such supervisor prompt; choose one of"),
        (["--issue", "issue.md", "--guards", "strict"], "no guard set is called 'strict'"),
        (["--issue", "issue.md", "--max-iterations", "0"], "Invalid value for '--max-iterations'"),
        (["--resume"], "give --job-id"),
        (["--resume", "--job-id", "x", "--issue", "issue.md"], "leave --issue out"),
        (["--resume", "--job-id", "nobody"], "no job is called 'nobody'"),
        (["--frob"], "No such option: --frob"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(desk, monkeypatch, capsys, arguments, said):
    (desk / "empty.md").write_text(" \n")
    (desk / "binary.md").write_bytes(b"\xff\xfe\x00")
    (desk / "broken.json").write_text('{"title": ')
    (desk / "untitled.json").write_text('{"body": "Oh no."}')
    (desk / "hollow").mkdir()

    assert triage(a_team("end"), monkeypatch, *arguments) == 2
    told = capsys.readouterr().err.strip()
    assert said in told
    assert "\n" not in told
    assert not (desk / ".triage").exists()


def test_a_folder_for_results_that_cannot_be_made_leaves_no_other(desk, monkeypatch, capsys):
    (desk / "file").write_text("")
    assert triage(a_team("end"), monkeypatch, *NEW, "--jobs", "new/jobs.sqlite", "--out", "file/results") == 2

    assert "file/results: the folder cannot be made" in capsys.readouterr().err
    assert not (desk / "new").exists()


def test_without_a_key_nothing_is_asked(desk, capsys):
    assert main(["run", "--repo", "shop", *NEW]) == 2

    assert "no key: set TRIAGE_API_KEY" in capsys.readouterr().err


def test_a_malformed_setting_is_named(desk, monkeypatch, capsys):
    assert triage(a_team("end"), _with(monkeypatch, "TRIAGE_TIMEOUT_S", "soon"), *NEW) == 2

    assert "TRIAGE_TIMEOUT_S: Input should be a valid number" in capsys.readouterr().err


def _with(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    return monkeypatch


@pytest.mark.parametrize(
    ("variable", "arguments", "said"),
    [
        (("TRIAGE_MODELS", "foo"), [], r"a TRIAGE_… variable is wrong"),
        (("TRIAGE_BASE_URL", "http://127.0.0.1:9/v1"), ["--jobs", "/proc/x"], r"/proc/x"),
    ],
)
def test_what_cannot_be_used_is_one_line(variable, arguments, said, tmp_path, monkeypatch, capsys):
    """Not a traceback, and not Python's exit code of a crash."""
    monkeypatch.setenv(*variable)
    monkeypatch.setenv("TRIAGE_API_KEY", "none")
    issue = tmp_path / "issue.md"
    issue.write_text("It crashes\n\nAlways.\n")

    code = main(["run", "--repo", str(tmp_path), "--issue", str(issue), *arguments])

    assert code == 2
    assert re.search(said, capsys.readouterr().err)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("TRIAGE_MODEL", "TRIAGE_MODEL is no variable of triage and changes nothing; did you mean TRIAGE_MODELS?"),
        ("TRIAGE_TIMEOUT", "did you mean TRIAGE_TIMEOUT_S"),
        ("TRIAGE_WEATHER", "TRIAGE_WEATHER is no variable of triage and changes nothing; docs/live.md lists"),
    ],
)
def test_a_variable_nobody_reads_is_told_in_one_line(name, said, desk, monkeypatch, capsys):
    triage(a_team("investigator", "writer"), _with(monkeypatch, name, "small"), *NEW, "--quiet")

    assert [said in line for line in capsys.readouterr().err.splitlines() if name in line] == [True]


def test_the_variables_that_are_read_are_no_surprise():
    known = [f"TRIAGE_{name.upper()}" for name in Settings.model_fields]

    assert unknown_variables([*known, "TRIAGE_REPO", "TRIAGE_CACHE_DIR", "triage_models", "PATH"]) == []


def test_a_paragraph_of_help_is_broken_by_the_terminal_only(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")

    assert main(["publish", "--help"]) == 0
    assert "its question is posted instead. Nothing" in capsys.readouterr().out

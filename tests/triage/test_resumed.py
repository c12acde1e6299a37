"""A job goes on as it was begun: what is kept, what may change, and what is refused in one line."""

import asyncio
import json
import sqlite3
from pathlib import Path

import pytest

from tests.builders.desk import AGAIN, NEW, a_desk, triage_at
from tests.builders.endpoint import a_decision
from tests.builders.llm_server import Answer, answering
from tests.builders.unruly import first, only, refusing
from triage.errors import InputError
from triage.run_options import RunOptions
from triage.stored_jobs import held, one_job

DOWN = only(["supervisor"], refusing(503))


@pytest.fixture
def desk(tmp_path, monkeypatch):
    return a_desk(tmp_path, monkeypatch)


def begun(monkeypatch, *arguments: str, answer: Answer = DOWN) -> None:
    """A job that has stopped at an outage."""
    with triage_at(monkeypatch, answer) as (triage, _):
        assert triage("run", "--repo", "shop", *NEW, *arguments) == 3


def the_job(name="one"):
    return asyncio.run(one_job(Path(".triage/jobs.sqlite"), name))


def heard(into: list) -> Answer:
    """A team that keeps what it was asked."""
    sound = answering()

    def answer(agent, body):
        into.append(body)
        return sound(agent, body)

    return answer


def test_the_model_the_repository_and_the_folder_for_results_are_kept(desk, monkeypatch):
    begun(monkeypatch, "--model", "local", "--out", "results")
    asked = []
    with triage_at(monkeypatch, heard(asked)) as (triage, _):
        assert triage("run", *AGAIN) == 0

    assert {body["model"] for body in asked} == {"local"}
    assert (desk / "results" / "report.md").is_file()


def test_what_a_job_was_begun_with_is_shown_when_it_goes_on(desk, monkeypatch, capsys):
    begun(monkeypatch, "--model", "local")
    capsys.readouterr()
    with triage_at(monkeypatch) as (triage, llm):
        triage("run", *AGAIN)

    told = capsys.readouterr().err.splitlines()
    assert told[0].startswith("job one goes on: llm, prompt v6, guards hardened, model local, repo ")
    assert told[1].startswith("it was begun at http://127.0.0.1:")
    assert told[1].endswith(f"and goes on at {llm.base_url}")


def test_another_repository_is_refused_in_one_line(desk, monkeypatch, capsys):
    begun(monkeypatch)
    (desk / "other").mkdir()
    capsys.readouterr()
    with triage_at(monkeypatch) as (triage, llm):
        assert triage("run", *AGAIN, "--repo", "other") == 2

    told = capsys.readouterr().err.strip()
    assert told == f"triage: this job was begun with --repo {desk}/shop: leave --repo out to go on, or start a new job"
    assert llm.asked == []


def test_a_checkout_that_was_moved_may_be_named_anew(desk, monkeypatch):
    begun(monkeypatch)
    (desk / "elsewhere").mkdir()
    (desk / "shop").rename(desk / "elsewhere" / "shop")
    with triage_at(monkeypatch) as (triage, _):
        assert triage("run", *AGAIN, "--repo", "elsewhere/shop") == 0


def test_a_relative_prompt_is_found_from_another_folder(desk, monkeypatch):
    source = Path(__file__).parents[2] / "triage" / "prompts" / "supervisor" / "v2.md"
    (desk / "mine.md").write_text(source.read_text())
    begun(monkeypatch, "--prompt", "mine.md")
    (desk / "deeper").mkdir()
    monkeypatch.chdir(desk / "deeper")
    with triage_at(monkeypatch) as (triage, _):
        assert triage("run", *AGAIN, "--jobs", "../.triage/jobs.sqlite") == 0


def test_a_larger_budget_and_new_orders_count_from_the_next_step(desk, monkeypatch):
    begun(monkeypatch, "--max-iterations", "3", "--redirect", "Look at tax.")
    asked = []
    with triage_at(monkeypatch, heard(asked)) as (triage, _):
        assert triage("run", *AGAIN, "--max-iterations", "7", "--redirect", "Look at rounding.") == 0

    context = asked[0]["messages"][1]["content"]
    assert "## Active redirect instructions (follow these above all else)\n1. Look at rounding." in context
    assert "Iteration: 0 / 7" in context
    assert the_job().state.redirect_instructions == ["Look at rounding."]


def test_orders_reach_a_job_that_waits_for_an_answer(desk, monkeypatch):
    ask = iter(["investigator", "human_input"])
    with triage_at(monkeypatch, answering(lambda _: next(ask))) as (triage, _):
        assert triage("run", "--repo", "shop", *NEW) == 4
    asked = []
    with triage_at(monkeypatch, heard(asked)) as (triage, _):
        assert triage("run", *AGAIN, "--redirect", "Look at rounding.", "--answer", "MySQL") == 0

    context = asked[0]["messages"][1]["content"]
    assert "1. Look at rounding." in context
    assert "A: MySQL" in context


def test_answers_may_be_given_beforehand(desk, monkeypatch):
    stops = iter(["investigator", "human_input", "codebase_search", "human_input", "writer"])
    with triage_at(monkeypatch, answering(lambda _: next(stops))) as (triage, _):
        assert triage("run", "--repo", "shop", *NEW, "--answer", "MySQL", "--answer", "8.0") == 0

    assert [exchange.answer for exchange in the_job().state.human_exchanges] == ["MySQL", "8.0"]


def test_a_job_begun_before_its_repository_was_kept_needs_to_be_told(desk, monkeypatch, capsys):
    begun(monkeypatch)
    with sqlite3.connect(".triage/jobs.sqlite") as jobs:
        jobs.execute("update checkpoints set metadata = json_remove(metadata, '$.triage_repo')")
    capsys.readouterr()
    with triage_at(monkeypatch) as (triage, _):
        assert triage("run", *AGAIN) == 2
        assert "this job does not know its repository yet: give --repo" in capsys.readouterr().err
        assert triage("run", *AGAIN, "--repo", "shop") == 0


def test_the_hint_can_be_pasted_into_a_shell(desk, monkeypatch, capsys):
    (desk / "shop").rename(desk / "my shop")
    with triage_at(monkeypatch, DOWN) as (triage, _):
        triage("run", "--repo", "my shop", *NEW)

    assert "triage run --resume --job-id one --repo 'my shop'" in capsys.readouterr().err


def test_a_job_that_is_running_is_not_resumed_beside_itself(desk, monkeypatch, capsys):
    begun(monkeypatch)
    capsys.readouterr()
    with triage_at(monkeypatch) as (triage, llm), held(Path(".triage/jobs.sqlite"), "one"):
        assert triage("run", *AGAIN) == 2

    assert capsys.readouterr().err.strip() == "triage: job 'one' is running already: wait for it, or stop it"
    assert llm.asked == []


def test_the_lock_of_a_process_that_died_holds_nobody_up(tmp_path):
    (tmp_path / "jobs.sqlite.one.lock").write_text("")
    with held(tmp_path / "jobs.sqlite", "one"):
        pass

    assert list(tmp_path.iterdir()) == []


def test_a_damaged_file_of_jobs_is_one_line(desk, monkeypatch, capsys):
    (desk / "broken.sqlite").write_bytes(b"SQLite format 3\x00" + b"\x07" * 5000)
    with triage_at(monkeypatch) as (triage, _):
        assert triage("run", "--repo", "shop", *NEW, "--jobs", "broken.sqlite") == 2

    told = capsys.readouterr().err.strip()
    assert "broken.sqlite: jobs cannot be kept there (" in told
    assert "\n" not in told


@pytest.mark.parametrize("name", ["../one", "a/b", "", ".hidden", "one two"])
def test_a_job_is_not_named_like_a_path(name, desk, monkeypatch, capsys):
    with triage_at(monkeypatch) as (triage, _):
        assert triage("run", "--repo", "shop", "--issue", "issue.md", "--job-id", name) == 2

    assert "use letters, digits, dots, dashes and underscores" in capsys.readouterr().err


def test_a_new_job_needs_its_repository(desk, monkeypatch, capsys):
    with triage_at(monkeypatch) as (triage, _):
        assert triage("run", *NEW) == 2

    assert "no repository: give --repo FOLDER" in capsys.readouterr().err


def test_a_fault_costs_a_visit_and_no_job(desk, monkeypatch):
    with triage_at(monkeypatch, only(["investigator"], first(1, refusing(400)))) as (triage, _):
        assert triage("run", "--repo", "shop", *NEW) == 0
    assert len(the_job().state.agent_errors) == 1


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_hiccup_costs_no_visit_and_is_told_in_the_trace(status, desk, monkeypatch, capsys):
    with triage_at(monkeypatch, only(["codebase_search"], first(1, refusing(status)))) as (triage, _):
        assert triage("run", "--repo", "shop", *NEW) == 0

    assert the_job().state.agent_errors == []
    told = json.loads((desk / ".triage/one/trace.json").read_text())["unanswered"]
    assert told == [{"agent": "codebase_search", "why": f"HTTP {status}", "times": 1}]
    assert "(1 refused or lost)" in capsys.readouterr().err


def test_options_of_another_plan_are_refused_whatever_the_folder():
    with pytest.raises(InputError, match="--plan"):
        RunOptions(plan="other.yaml").continued(RunOptions("plan-fixed", "plan-v1", "mine.yaml", "hardened"))


def test_an_answer_is_kept_as_it_was_typed(desk, monkeypatch):
    asking = a_decision("human_input", question="Which?")
    stops = iter(["investigator", asking["next_node"], "codebase_search", "writer"])
    with triage_at(monkeypatch, answering(lambda _: next(stops))) as (triage, _):
        assert triage("run", "--repo", "shop", *NEW, typed="\n  two words \n") == 0

    assert the_job().state.human_exchanges[0].answer == "  two words "


def test_a_job_that_is_over_takes_no_orders(desk, monkeypatch, capsys):
    with triage_at(monkeypatch) as (triage, _):
        triage("run", "--repo", "shop", *NEW)
        assert triage("run", *AGAIN, "--redirect", "Look at rounding.") == 2
        assert "triage: this job is over: leave --max-iterations and --redirect out" in capsys.readouterr().err
        assert triage("run", *AGAIN) == 0


def test_control_c_before_the_first_step_does_not_say_that_the_job_is_kept(desk, monkeypatch, capsys):
    async def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("triage.job_session.index_of_repository", interrupt)
    with triage_at(monkeypatch) as (triage, _):
        assert triage("run", "--repo", "shop", *NEW) == 130

    assert capsys.readouterr().err.strip() == "triage: interrupted; nothing of the job was kept yet: start it again"

"""The command with each supervisor: whole jobs, questions and resumption, and one clear line for what does not fit."""

import io
import os
import re
import sqlite3
import sys
from pathlib import Path

import pytest

from tests.builders.endpoint import WORKER_REPLIES, Endpoint, a_team
from tests.builders.llm_server import an_llm_server
from tests.builders.loopback import serving
from tests.builders.plan import PlanningTeam
from triage.cli import main
from triage.supervisors import SUPERVISORS

NEW = ("--issue", "issue.md", "--job-id", "one")
AGAIN = ("--resume", "--job-id", "one")
PLAN_WITH_A_QUESTION = """\
objective: Find the cause.
tasks:
  - {task_id: 1, objective: Read the issue., capability: investigator}
  - {task_id: 2, objective: "Which database?", capability: human_input, dependencies: [1]}
  - {task_id: 3, objective: Write the report., capability: writer, dependencies: [2], is_final: true}
"""
UNSURE = {**WORKER_REPLIES["codebase_search"], "confidence": 0.1, "relevant_files": [], "root_cause_location": None}


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A folder with an issue, a checkout and a plan that asks, and an environment without settings."""
    for name in [name for name in os.environ if name.startswith("TRIAGE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TRIAGE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("TRIAGE_RETRY_JITTER", "false")  # no waits between attempts
    monkeypatch.chdir(tmp_path)
    Path("issue.md").write_text("# Cart total is wrong\n\nAdding two items charges for one.\n")
    Path("asking.yaml").write_text(PLAN_WITH_A_QUESTION)
    Path("shop").mkdir()
    Path("shop/cart.py").write_text("def add(cart, item):\n    cart[item] = 1\n")
    return tmp_path


@pytest.fixture
def triage(desk, monkeypatch):
    """`triage run` against the team given, with `typed` on standard input."""

    def run(team, *arguments: str, typed: str = "") -> int:
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        with serving(team) as url:
            monkeypatch.setenv("TRIAGE_BASE_URL", url)
            return main(["run", "--repo", "shop", *arguments])

    return run


def a_registry_team(*agents: str) -> Endpoint:
    """A team whose supervisor names these agents in plain JSON."""
    told = [{"reasoning": f"Which {agent}?", "next_agent": agent, "input_check": ""} for agent in agents]
    return a_team(supervisor=told)


@pytest.mark.parametrize("supervisor", SUPERVISORS)
def test_every_supervisor_brings_a_report_with_no_more_said_than_its_name(supervisor, desk, monkeypatch):
    """Against a real server, which tells the kinds of request apart; a question is answered once."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("MySQL\n"))
    with an_llm_server() as llm:
        monkeypatch.setenv("TRIAGE_BASE_URL", llm.base_url)
        code = main(["run", "--repo", "shop", *NEW, "--supervisor", supervisor])

    assert code == (5 if supervisor == "rules" else 0)  # the file that is cited is not there
    assert "Quantities are overwritten." in Path(".triage/one/report.md").read_text()


def test_the_rules_ask_no_model_who_is_next(triage):
    team = a_team()
    triage(team, *NEW, "--supervisor", "rules", typed="MySQL\n")

    assert team.count("supervisor") == 0
    assert team.count("writer") == 1


LEFT_AT_A_QUESTION = {
    "rules": (lambda: a_team(codebase_search=[UNSURE]), []),
    "registry": (lambda: a_registry_team("investigator", "human_input", "writer"), []),
    "plan-fixed": (PlanningTeam, ["--plan", "asking.yaml"]),
    "plan-hybrid": (PlanningTeam, ["--plan", "asking.yaml"]),
}


@pytest.mark.parametrize("supervisor", LEFT_AT_A_QUESTION)
def test_a_job_left_at_a_question_goes_on_under_its_own_supervisor(supervisor, triage, capsys):
    """Nothing but its name is said when it is resumed."""
    team, more = LEFT_AT_A_QUESTION[supervisor]
    assert triage(team(), *NEW, "--supervisor", supervisor, *more) == 4
    assert "waiting for an answer; the job is kept: triage run --resume --job-id one" in capsys.readouterr().err

    rest = a_registry_team("writer") if supervisor == "registry" else team()
    assert triage(rest, *AGAIN, typed="MySQL\n") == (5 if supervisor in ("rules", "registry") else 0)  # unsure still
    assert "No valid decision" not in capsys.readouterr().err  # as another supervisor would say of the answers
    assert Path(".triage/one/report.md").is_file()


def test_a_resumed_plan_repeats_no_task(triage):
    triage(PlanningTeam(), *NEW, "--supervisor", "plan-fixed", "--plan", "asking.yaml")
    rest = PlanningTeam()
    triage(rest, *AGAIN, typed="MySQL\n")

    assert rest.workers.count("investigator") == 0
    assert re.search(r"^\[2\] COMPLETED human_input", rest.decided[0], re.MULTILINE)


def test_a_resumed_job_keeps_its_prompt_until_another_is_named(triage):
    triage(a_team("investigator", supervisor=[503]), *NEW, "--prompt", "v1")
    kept, changed = a_team(supervisor=[503]), a_team("investigator", "writer")
    triage(kept, *AGAIN)
    triage(changed, *AGAIN, "--prompt", "v2")

    assert "Critic's verdict" not in kept.messages("supervisor")[1]
    assert kept.messages("supervisor")[0] != changed.messages("supervisor")[0]


@pytest.mark.slow
def test_a_resumed_job_keeps_its_budget(triage):
    """With the default's recursion limit thirty visits would be stopped half way."""
    looping = a_team("codebase_search", supervisor=[503])
    assert triage(looping, *NEW, "--max-iterations", "30") == 3

    assert triage(a_team("codebase_search"), *AGAIN) == 0


def test_a_job_stored_before_there_was_a_choice_is_one_of_the_llm_supervisor(triage):
    triage(a_team("investigator", supervisor=[503]), *NEW)
    with sqlite3.connect(".triage/jobs.sqlite") as jobs:
        jobs.execute(
            "update checkpoints set metadata = json_remove(metadata, '$.triage_supervisor', '$.triage_prompt')"
        )

    assert triage(a_team("investigator", "writer"), *AGAIN) == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--supervisor", "dice"], "no supervisor is called 'dice'; choose one of llm, rules, registry, plan-fixed"),
        (["--supervisor", "rules", "--prompt", "v3"], "supervisor 'rules' reads no prompt"),
        (["--supervisor", "rules", "--plan", "linear"], "supervisor 'rules' follows no plan"),
        (["--plan", "linear"], "supervisor 'llm' follows no plan"),
        (["--supervisor", "plan-llm", "--plan", "linear"], "plan-llm makes its own plan: leave out the plan 'linear'"),
        (["--supervisor", "plan-fixed", "--plan", "round"], "round: no such plan; choose one of fan-out, linear"),
        (["--supervisor", "plan-fixed", "--plan", "broken.yaml"], "broken.yaml: line 1: "),
        (["--supervisor", "registry", "--prompt", "v3"], "prompt v3 is written for supervisor 'llm', not 'registry'"),
        (["--supervisor", "plan-fixed", "--prompt", "v4"], "prompt v4 is written for supervisor 'registry'"),
        (["--prompt", "plan-v1"], "prompt plan-v1 is written for supervisor 'plan', not 'llm': name another prompt"),
    ],
)
def test_what_does_not_fit_together_is_one_line_and_exit_code_2(triage, capsys, arguments, said):
    Path("broken.yaml").write_text("objective: Find the cause.\n")

    assert triage(a_team("end"), *NEW, *arguments) == 2
    told = capsys.readouterr().err.strip()
    assert said in told
    assert "\n" not in told
    assert not Path(".triage").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--supervisor", "llm"], "this job was begun with --supervisor rules: leave --supervisor out to go on"),
        (["--plan", "linear"], "this job was begun without --plan: leave --plan out to go on"),
        (["--prompt", "v3"], "supervisor 'rules' reads no prompt"),
    ],
)
def test_a_resumed_job_changes_neither_supervisor_nor_plan(triage, capsys, arguments, said):
    triage(a_team(codebase_search=[UNSURE]), *NEW, "--supervisor", "rules")
    capsys.readouterr()

    assert triage(a_team(), *AGAIN, *arguments, typed="MySQL\n") == 2
    told = capsys.readouterr().err.strip()
    assert said in told
    assert "\n" not in told


def test_a_reply_that_ended_the_job_is_told(triage, capsys):
    broken = a_team(supervisor=["I would rather not."])
    assert triage(broken, *NEW, "--supervisor", "registry", "--guards", "none") == 4

    assert "no report was written (the reply held no JSON object)" in capsys.readouterr().err

"""The CI recipe stays true: what it watches and calls exists, and its rights are as small as docs/ci.md says."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from evals.models.run_request import Share

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = ROOT / ".github" / "workflows"
JUDGE, COMMENT, REPEAT = "prompt-regression.yml", "prompt-regression-comment.yml", "repeat.yml"
CHECKS, WEEKLY = "checks.yml", "weekly.yml"


def a_workflow(name):
    """The workflow; YAML 1.1 reads its key `on` as true."""
    read = yaml.safe_load((WORKFLOWS / name).read_text(encoding="utf-8"))
    return read | {"on": read.pop(True)}


def the_recipes():
    """The YAML of docs/ci.md: GitLab's job, then the shards of GitHub and of GitLab (a step of GitHub is first)."""
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    return [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", page, flags=re.DOTALL)][1:]


def the_gitlab_job():
    return the_recipes()[0]["prompt-regression"]


def the_shares(command, *machines):
    """What a recipe's shell makes of its `--shard` on each machine, by the machine's environment."""
    (word,) = re.findall(r"--shard (\S+)", command)
    return [
        Share.parse(subprocess.check_output(["bash", "-c", f"echo {word}"], text=True, env=environment).strip())
        for environment in machines
    ]


def the_steps(name):
    (job,) = a_workflow(name)["jobs"].values()
    return job["steps"]


def the_action():
    return yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))


def the_inputs(name):
    """What a workflow gives to action.yml."""
    (inputs,) = [step["with"] for step in the_steps(name) if step.get("uses") == "./"]
    return inputs


@pytest.mark.parametrize("event", ["pull_request", "push"])
def test_every_watched_path_is_there(event):
    watched = a_workflow(JUDGE)["on"][event]["paths"]

    assert [path for path in watched if not (ROOT / path.removesuffix("/**")).exists()] == []


def test_prompts_guards_suites_cassettes_and_labels_are_watched():
    roots = {path.removesuffix("/**") for path in a_workflow(JUDGE)["on"]["pull_request"]["paths"]}
    inputs = ("triage/prompts/supervisor", "triage/guards", "evals/suites", "cassettes", "datasets/triage/cases")

    assert [path for path in inputs if (ROOT / path).is_dir() and path.partition("/")[0] in roots] == list(inputs)


def test_gitlab_watches_the_same():
    (rule,) = the_gitlab_job()["rules"]

    assert [path.removesuffix("/*") for path in rule["changes"]] == a_workflow(JUDGE)["on"]["push"]["paths"]


def test_every_make_command_is_a_target():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    checks = [step for job in a_workflow(CHECKS)["jobs"].values() for step in job["steps"]]
    steps = (*the_steps(JUDGE), *the_steps(REPEAT), *checks)
    scripts = [step.get("run", "") for step in steps] + the_gitlab_job()["script"]
    called = {target for script in scripts for target in re.findall(r"^make ([a-z-]+)", script, flags=re.MULTILINE)}

    assert called
    assert called <= targets


def test_the_suite_that_is_judged_is_shipped():
    suite = the_inputs(JUDGE)["suite"]

    assert (ROOT / "evals" / "suites" / f"{suite}.yaml").is_file()
    assert f".venv/bin/evals run {suite}" in the_gitlab_job()["script"]


def test_what_runs_a_forks_code_may_only_read_and_holds_no_secret():
    text = (WORKFLOWS / JUDGE).read_text(encoding="utf-8")

    assert a_workflow(JUDGE)["permissions"] == {"contents": "read"}
    assert "secrets." not in text
    assert "pull_request_target" not in text


def test_each_change_is_checked_by_lint_types_contracts_and_tests():
    """On main and in every pull request, whatever it touches; a fork's code may only read."""
    workflow = a_workflow(CHECKS)
    commands = {step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step}

    assert {"make lint", "make types", "make contracts", "make test"} <= commands
    assert workflow["on"] == {"pull_request": None, "push": {"branches": ["main"]}}
    assert workflow["permissions"] == {"contents": "read"}
    assert "secrets." not in (WORKFLOWS / CHECKS).read_text(encoding="utf-8")


def test_what_may_write_runs_nothing_of_the_pull_request():
    steps = the_steps(COMMENT)

    assert set(a_workflow(COMMENT)["on"]) == {"workflow_run"}
    assert a_workflow(COMMENT)["permissions"] == {"actions": "read", "contents": "read", "pull-requests": "write"}
    assert [step["uses"].partition("@")[0] for step in steps] == ["actions/checkout", "./"]
    assert "ref" not in steps[0]["with"]  # the default branch
    assert the_inputs(COMMENT)["task"] == "comment"


def test_the_workflows_give_the_action_inputs_that_it_has_and_one_artifact():
    for name in (JUDGE, COMMENT):
        assert the_inputs(name).keys() <= the_action()["inputs"].keys()
    assert the_inputs(JUDGE)["artifact"] == the_inputs(COMMENT)["artifact"]


def test_every_input_of_the_action_is_documented():
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")

    assert [name for name in the_action()["inputs"] if f"| `{name}` |" not in page] == []


@pytest.mark.parametrize("name", [JUDGE, COMMENT, REPEAT, CHECKS, WEEKLY])
def test_no_script_holds_an_expression(name):
    """A branch called `$(rm -rf .)` would be pasted into it; values come in through the environment."""
    steps = [step for job in a_workflow(name)["jobs"].values() for step in job["steps"]]

    assert [step for step in steps if "${{" in step.get("run", "")] == []


def test_the_comment_waits_for_the_workflow_that_judges():
    assert a_workflow(COMMENT)["on"]["workflow_run"]["workflows"] == [a_workflow(JUDGE)["name"]]


def test_the_documented_exit_codes_are_those_of_the_job():
    rows = re.findall(
        r"^\| (\d) [^|]*\| ([^|]*)\|", (ROOT / "docs" / "ci.md").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    named = {code: re.findall(r'"([^"]+)"', step) for code, step in rows}
    steps = {step.get("name") for step in the_action()["runs"]["steps"]}

    assert named.keys() == {"0", "1", "2", "3"}
    assert {name for names in named.values() for name in names} <= steps


def test_the_jobs_of_github_run_every_shard_once():
    jobs = the_recipes()[1]["jobs"]
    numbers = jobs["shard"]["strategy"]["matrix"]["number"]
    (command,) = [step["run"] for step in jobs["shard"]["steps"] if "--shard" in step.get("run", "")]

    assert the_shares(command, *({"NUMBER": str(number)} for number in numbers)) == [
        Share(number, len(numbers)) for number in range(1, len(numbers) + 1)
    ]
    assert jobs["judge"]["needs"] == "shard"
    assert jobs["judge"]["steps"][-1]["run"] == ".venv/bin/evals gate --shards reports/shards/*.json"


def test_the_jobs_of_gitlab_run_every_shard_once():
    """GitLab counts `parallel` jobs from 1."""
    jobs = the_recipes()[2]
    total = jobs["shard"]["parallel"]
    machines = [{"CI_NODE_INDEX": str(n), "CI_NODE_TOTAL": str(total)} for n in range(1, total + 1)]

    assert the_shares(jobs["shard"]["script"][-1], *machines) == [Share(n, total) for n in range(1, total + 1)]
    assert jobs["judge"]["needs"] == ["shard"]
    assert jobs["judge"]["script"][-1] == ".venv/bin/evals gate --shards reports/shards/*.json"


def test_every_recipe_verifies_the_cassettes_before_it_judges():
    github = [step.get("run", "").replace("$EVALS", "evals") for step in the_action()["runs"]["steps"]]
    jobs = [job for recipe in the_recipes() for job in recipe.get("jobs", recipe).values() if "needs" in job]
    scripts = [[step.get("run", "") for step in job.get("steps", ())] or job["script"] for job in jobs]

    for script in (github, the_gitlab_job()["script"], *scripts):
        verified, judged = (
            next(place for place, line in enumerate(script) if re.search(what, line))
            for what in ("evals cassette verify", r"evals (run|gate) ")
        )
        assert verified < judged


def test_the_suite_is_repeated_every_week_twenty_times_with_other_seeds():
    workflow = a_workflow(REPEAT)
    job = workflow["jobs"]["rounds"]
    (step,) = [step for step in job["steps"] if step.get("name") == "Two rounds"]

    assert [len(each["cron"].split()) for each in workflow["on"]["schedule"]] == [5]
    assert len(job["strategy"]["matrix"]["part"]) * int(re.findall(r"REPEAT=(\d+)", step["run"])[0]) == 20
    assert step["env"]["SEED"] == "${{ github.run_id }}${{ matrix.part }}0"
    assert workflow["permissions"] == {"contents": "read"}


def test_rounds_that_are_red_make_the_workflow_red(tmp_path):
    """`tee` keeps what was said for the job's page, and must not keep the exit code to itself."""
    (step,) = [step for step in the_steps(REPEAT) if step.get("name") == "Two rounds"]
    (tmp_path / "Makefile").write_text("test:\n\t@echo '| round | ...'; exit 1\n")
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "SEED": "7", "RUNNER_TEMP": str(tmp_path)},
        check=False,
        capture_output=True,
    )

    assert step["shell"] == "bash"  # which is how GitHub comes to these options
    assert done.returncode != 0
    assert "| round |" in (tmp_path / "rounds.txt").read_text()

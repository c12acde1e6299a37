"""`.ci/run` and `.ci/weekly` run plain steps, remember each failure, and read the verdict of a run from run.json."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
CI = ROOT / ".ci"
RUN, WEEKLY = ((CI / name).read_text(encoding="utf-8") for name in ("run", "weekly"))


def a_script(*lines):
    """A script of these steps, run."""
    script = "\n".join([f". {CI / 'steps'}", *lines, "finish"])
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)


def test_a_failed_step_is_remembered_and_the_next_one_runs():
    done = a_script("step before true", "step one sh -c 'exit 3'", "step after echo here")
    printed = done.stdout.splitlines()

    assert any(line.startswith("=== one: exit 3 after") for line in printed)
    assert "here" in printed
    assert (done.returncode, printed[-1]) == (1, "CI: red: one")


def test_only_green_steps_are_green():
    done = a_script("step one true", "step two true")

    assert done.returncode == 0
    assert done.stdout.splitlines()[-1].startswith("CI: green after ")


def test_what_began_beside_other_steps_is_a_step_where_it_is_waited_for():
    begun = ("beside two sh -c 'echo theirs; exit 3'", "beside three echo others")
    done = a_script(*begun, "step one echo ours", "step three joined three", "step two joined two")

    said = [line for line in done.stdout.splitlines() if "===" not in line]
    assert said == ["ours", "others", "theirs", "CI: red: two"]
    assert done.returncode == 1


@pytest.mark.parametrize("name", ["run", "weekly", "steps"])
def test_the_script_is_valid_shell(name):
    assert subprocess.run(["bash", "-n", CI / name], check=False).returncode == 0


def test_lint_types_contracts_cassettes_labels_suites_and_tests_are_steps():
    steps = dict(re.findall(r"^step (\w+) (.*?)(?: \|\|.*)?$", RUN, flags=re.MULTILINE))

    assert list(steps) == ["setup", "checks", "cassettes", "labels", "eval", "released", "tests"]
    assert {"lint", "types", "contracts"} <= set(steps["checks"].split())


def test_the_weekly_workflow_runs_each_step_of_the_weekly_script():
    workflow = yaml.safe_load((ROOT / ".github/workflows/weekly.yml").read_text(encoding="utf-8"))
    (usual,) = re.findall(r"\$\{\*:-(.*?)\}", WEEKLY)
    defined = re.findall(r"^(\w+)\(\)", WEEKLY, flags=re.MULTILINE)

    assert workflow["jobs"]["part"]["strategy"]["matrix"]["step"] == usual.split() == defined


def test_the_weekly_script_starts_tests_that_are_there():
    assert [path for path in re.findall(r"\btests/\S+", WEEKLY) if not (ROOT / path).exists()] == []


def test_no_output_of_a_command_is_searched_for_a_verdict():
    workflows = [path.read_text(encoding="utf-8") for path in (ROOT / ".github" / "workflows").glob("*.yml")]
    scripts = [RUN, WEEKLY, *workflows]

    assert [text for text in scripts if re.search(r"evals (run|gate|merge)[^\n]*\|\s*(tee|grep|sed)", text)] == []
    assert not re.search(r"\bgrep\b", RUN + WEEKLY)


EVALS = """#!/bin/sh
case "$*" in
    *fetch*) exit {fetched} ;;
    *lint*) echo "$*"; exit {linted} ;;
    "run released"*) exit {judged} ;;
esac
"""


@pytest.mark.parametrize(
    ("codes", "code"),
    [
        ({}, 0),
        ({"judged": 1}, 1),
        ({"judged": 3}, 1),
        ({"linted": 1}, 1),
        ({"fetched": 2}, 1),
        ({"fetched": 3, "linted": 1, "judged": 1}, 0),
    ],
    ids=["not worse", "worse", "cannot judge", "a finding", "no dataset", "no index"],
)
def test_released_packages_are_green_where_they_can_be_checked_and_are_not_worse(tmp_path, codes, code):
    done = released(tmp_path, **codes)

    assert done.returncode == code, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("CI: red: released" if code else "CI: green")


def test_a_push_proves_the_labels_of_every_fifth_released_case_and_the_week_those_of_all(tmp_path):
    lint = "dataset lint --dataset datasets/released"

    assert f"{lint} --case a --case f\n" in released(tmp_path / "push", SAMPLE="5").stdout
    assert f"{lint}\n" in released(tmp_path / "week").stdout
    assert "env SAMPLE=5 .ci/weekly released" in RUN


def released(checkout, *, fetched=0, linted=0, judged=0, **environment):
    """The step in a checkout with seven cases whose `evals` exits with these codes."""
    shutil.copytree(CI, checkout / ".ci")
    (checkout / "Makefile").write_text("setup:\n")
    (checkout / ".venv/bin").mkdir(parents=True)
    (checkout / ".venv/bin/python").symlink_to(sys.executable)
    for case in "abcdefg":
        (checkout / "datasets/released/triage/cases" / case).mkdir(parents=True)
    (checkout / ".venv/bin/evals").write_text(EVALS.format(fetched=fetched, linted=linted, judged=judged))
    (checkout / ".venv/bin/evals").chmod(0o755)
    command, around = [checkout / ".ci/weekly", "released"], {**os.environ, **environment}
    return subprocess.run(command, env=around, capture_output=True, text=True, check=False)

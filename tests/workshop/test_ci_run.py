"""`.ci/run` runs plain steps, remembers each failure, and reads the verdict of a run from run.json."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
STEP = SCRIPT[SCRIPT.index("failed=()") : SCRIPT.index("chromium_for_tests()")]
"""The function that runs a command as a step."""


def output_of(*lines):
    """What a script of these lines prints, with the failed steps at its end."""
    script = "\n".join(["set -uo pipefail", STEP, *lines, 'echo "red: ${failed[*]}"'])
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout.splitlines()


def test_a_failed_step_is_remembered_and_the_next_one_runs():
    printed = output_of("step before true", "step one sh -c 'exit 3'", "step after echo here")

    assert any(line.startswith("=== one: exit 3 after") for line in printed)
    assert "here" in printed
    assert printed[-1] == "red: one"


def test_the_script_is_valid_shell():
    assert subprocess.run(["bash", "-n", ROOT / ".ci" / "run"], check=False).returncode == 0


def test_lint_types_contracts_cassettes_suites_and_tests_are_steps():
    steps = dict(re.findall(r"^step (\w+) (.*?)(?: \|\|.*)?$", SCRIPT, flags=re.MULTILINE))

    assert list(steps) == ["setup", "checks", "cassettes", "eval", "released", "tests"]
    assert {"lint", "types", "contracts"} <= set(steps["checks"].split())


def test_no_output_of_a_command_is_searched_for_a_verdict():
    workflows = [path.read_text(encoding="utf-8") for path in (ROOT / ".github" / "workflows").glob("*.yml")]

    assert [
        text for text in (SCRIPT, *workflows) if re.search(r"evals (run|gate|merge)[^\n]*\|\s*(tee|grep|sed)", text)
    ] == []
    assert not re.search(r"\bgrep\b", SCRIPT)


KNOWN = {
    "kind": "regression",
    "text": "v5 against v3: route.pass -13 points [-22, -4] over 69 cases, 10 broke, 1 mended",
}
OTHER = {
    "kind": "regression",
    "text": "v3 against the baseline: root_cause.hit -9 points [-20, -2] over 69 cases, 6 broke, 0 mended",
}
NOTE = {"kind": "note", "text": "3 answers were recorded anew"}


@pytest.mark.parametrize(
    ("exit_code", "reasons", "code"),
    [
        (0, [], 0),
        (1, [KNOWN], 0),
        (1, [KNOWN, NOTE], 0),
        (1, [KNOWN, OTHER], 1),
        (1, [OTHER], 1),
        (1, [NOTE], 1),
        (3, [KNOWN], 3),
    ],
)
def test_of_the_released_cases_only_the_known_regression_is_no_failure(exit_code, reasons, code, tmp_path):
    run = tmp_path / "run.json"
    run.write_text(json.dumps({"verdict": {"exit_code": exit_code, "reasons": reasons}}), encoding="utf-8")

    assert known_regression(run).returncode == code


def test_a_run_without_a_verdict_is_one_line_and_2(tmp_path):
    done = known_regression(tmp_path / "run.json")

    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "holds no verdict" in done.stderr


def known_regression(run):
    command = [sys.executable, ROOT / ".ci" / "known_regression.py", run]
    return subprocess.run(command, capture_output=True, text=True, check=False)

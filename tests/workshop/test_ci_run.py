"""What `.ci/run` does beside its steps is told whole, in order, and is red when it fails."""

import subprocess
from pathlib import Path

import pytest

SCRIPT = (Path(__file__).parents[2] / ".ci" / "run").read_text(encoding="utf-8")
WAYS = SCRIPT[SCRIPT.index("failed=()") : SCRIPT.index("chromium_for_tests()")]
"""The functions that run a command as a step, or beside the steps."""


def told(*lines):
    """What a script of these lines says, with what failed at its end."""
    script = "\n".join(["set -uo pipefail", WAYS, *lines, 'echo "red: ${failed[*]}"'])
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout.splitlines()


def test_what_ran_beside_the_steps_is_told_after_them_each_in_one_piece():
    said = told("begin one sh -c 'echo a; sleep 0.1; echo b'", "begin two echo c", "step three echo d", "await one two")

    assert [line for line in said if len(line) == 1] == ["d", "a", "b", "c"]


@pytest.mark.parametrize("way", ["step one sh -c 'exit 3'", "begin one sh -c 'exit 3'\nawait one"])
def test_a_failure_is_remembered_whichever_way_it_ran(way):
    said = told("step before true", way, "step after true")

    assert any(line.startswith("=== one: exit 3 after") for line in said)
    assert said[-1] == "red: one"


def test_complaints_are_told_too():
    assert "oh" in told("begin one sh -c 'echo oh >&2'", "await one")


KNOWN = "  regression: v5 against v3: route.pass -13 points [-22, -4] over 69 cases, 10 broke, 1 mended"
OTHER = "  regression: v3 against the baseline: root_cause.hit -9 points [-20, -2] over 69 cases, 6 broke, 0 mended"


@pytest.mark.parametrize(
    ("lines", "code", "red"),
    [
        ([], 0, False),
        ([KNOWN], 1, False),
        ([KNOWN, OTHER], 1, True),
        ([OTHER], 1, True),
        ([KNOWN], 3, True),
    ],
)
def test_of_the_released_cases_only_the_known_regression_is_no_failure(lines, code, red, tmp_path):
    evals = tmp_path / ".venv" / "bin" / "evals"
    evals.parent.mkdir(parents=True)
    evals.write_text("\n".join(["#!/bin/sh", *(f"echo '{line}'" for line in lines), f"exit {code}"]), encoding="utf-8")
    evals.chmod(0o755)
    judged = SCRIPT[SCRIPT.index("judged_released() {") : SCRIPT.index("step setup")]
    script = f"set -uo pipefail\nbeside={tmp_path}\n{judged}\njudged_released"

    assert (
        bool(subprocess.run(["bash", "-c", script], cwd=tmp_path, check=False, capture_output=True).returncode) is red
    )


def test_pytest_comes_last():
    told = [line.split()[1:] for line in SCRIPT.splitlines() if line.startswith(("step ", "await "))]

    assert told[-1][-1] == "tests"

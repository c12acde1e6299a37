"""`make` says what can be done, and passes on what a command found."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROMISED = {
    "setup",
    "eval",
    "plan",
    "record",
    "local-llm",
    "check",
    "lint",
    "types",
    "contracts",
    "test",
    "format",
    "bench",
}

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="no make on this machine")


def make(*arguments, cwd=ROOT):
    return subprocess.run(["make", *arguments], cwd=cwd, capture_output=True, text=True, timeout=300, check=False)


def a_checkout(folder, evals):
    """A folder that make takes for set up, whose `evals` command is the given shell script."""
    shutil.copy(ROOT / "Makefile", folder)
    (folder / "pyproject.toml").touch()
    (folder / "requirements.lock").touch()
    command = folder / ".venv/bin/evals"
    command.parent.mkdir(parents=True)
    command.write_text(f"#!/bin/sh\n{evals}\n", encoding="utf-8")
    command.chmod(0o755)
    (folder / ".venv/.ready").touch()
    return folder


def test_make_alone_lists_every_target_with_a_word_about_it():
    listed = set(re.findall(r"^  make ([a-z-]+) +\S", make().stdout, flags=re.MULTILINE))

    assert listed >= PROMISED


@pytest.mark.parametrize("code", [1, 3])
def test_make_eval_tells_worse_from_cannot_judge(tmp_path, code):
    """By itself make exits with 2 for any failure, so the command's own code is printed."""
    done = make("eval", cwd=a_checkout(tmp_path, evals=f"exit {code}"))

    assert f"evals exited with {code}" in done.stdout
    assert done.returncode != 0


def test_make_eval_is_green_when_the_suite_is(tmp_path):
    done = make("eval", cwd=a_checkout(tmp_path, evals='echo "$@"; exit 0'))

    assert done.returncode == 0
    assert "run prompts" in done.stdout


def test_a_system_without_a_new_enough_python_gets_one_clear_line(tmp_path):
    folder = a_checkout(tmp_path, evals="exit 0")
    (folder / ".venv/.ready").unlink()

    done = make("setup", "PYTHON=", cwd=folder)

    assert done.returncode != 0
    assert "no Python 3.11 or newer found" in done.stderr

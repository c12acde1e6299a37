"""`make` says what can be done, and passes on what a command found."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROMISED = {"setup", "eval", "record", "check", "lint", "types", "contracts", "test", "bench", "lock", "wheel", "help"}
REPLACED = {
    "plan": ".venv/bin/evals plan prompts",
    "released": ".venv/bin/evals dataset fetch --dataset datasets/released",
    "chaos": ".venv/bin/python -m tests.chaos",
    "mutants": ".venv/bin/python -m tests.mutation",
    "explore": ".venv/bin/python -m tests.explore",
    "local-llm": "make setup WITH=llm && .venv/bin/python -m tests.local_llm start",
    "every": "make test EVERY=1",
    "format": ".venv/bin/ruff check --fix . && .venv/bin/ruff format .",
    "setup-git": "make setup WITH=git",
    "dask": "make setup WITH=dask",
    "bench-peer": "make setup WITH=bench",
    "studio": "make setup WITH=studio",
    "clean": "rm -rf",
}
"""A target of version 0.1 -> the start of the command that took its place."""

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
    listed = re.findall(r"^  make ([a-z-]+) +\S", make().stdout, flags=re.MULTILINE)

    assert set(listed) == PROMISED
    assert len(listed) <= 12


@pytest.mark.parametrize(("old", "command"), REPLACED.items())
def test_a_target_of_version_0_1_prints_the_command_that_took_its_place(old, command):
    done = make("--dry-run", old)

    assert f'echo "make {old} is now: {command}' in done.stdout


def test_a_target_of_version_0_1_still_runs(tmp_path):
    done = make("plan", "SUITE=models", cwd=a_checkout(tmp_path, evals='echo "$@"'))

    assert (done.stdout, done.stderr) == ("plan models\n", "make plan is now: .venv/bin/evals plan models \n")


def test_an_unknown_part_of_the_setup_is_one_line_that_names_the_parts():
    done = make("setup", "WITH=carts")

    assert done.returncode == 2
    assert "there is no part carts; parts: git dask llm bench studio" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("part", ["dask", "llm", "bench", "studio"])
def test_a_part_of_the_setup_installs_its_lock(part, tmp_path):
    folder = a_checkout(tmp_path, evals="exit 0")
    (folder / f"requirements-{part}.lock").touch()

    assert f"-r requirements-{part}.lock" in make("--dry-run", "setup", f"WITH={part}", cwd=folder).stdout


def test_every_make_command_in_the_pages_is_a_target_of_this_version():
    pages = [ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/*.md"), *ROOT.glob(".github/workflows/*"), *ROOT.glob(".ci/*")]
    called = {
        name
        for page in pages
        for name in re.findall(
            r"(?:^ +|`|run: |step \w+ )make ([a-z-]+)", page.read_text(encoding="utf-8"), flags=re.MULTILINE
        )
    }

    assert called
    assert called <= PROMISED


@pytest.mark.parametrize("code", [1, 3])
def test_make_eval_tells_worse_from_cannot_judge(tmp_path, code):
    """By itself make exits with 2 for any failure; its last line holds the command's own code."""
    done = make("eval", cwd=a_checkout(tmp_path, evals=f"exit {code}"))

    assert done.stderr.endswith(f"eval] Error {code}\n")
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

"""A copy of the harness without the triage graph and its pack: the core works, and offers nothing of the pack."""

import os
import shutil
import subprocess
import sys
import tomllib

import pytest

from evals.cli.main import COMMANDS
from evals.paths import PACKAGE
from evals.triage.pack import PACK
from tests.builders.checkout import REPOSITORY, own_code

pytestmark = pytest.mark.slow

NOT_INSTALLED = """
import sys
sys.meta_path[:] = [each for each in sys.meta_path if "editable" not in getattr(each, "__module__", "")]
from evals.cli.main import main
sys.exit(main(sys.argv[1:]))
"""
"""The command, without the installation that finds modules of this checkout from everywhere."""


@pytest.fixture(scope="module")
def core(tmp_path_factory):
    """The copy."""
    folder = own_code(tmp_path_factory.mktemp("core"))
    shutil.rmtree(folder / "triage")
    shutil.rmtree(folder / "evals" / "triage")
    return folder


def said(folder, *words):
    """The finished process of a command line in the copy."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(folder), "PYTHONSAFEPATH": "1", "COLUMNS": "140"}
    return subprocess.run(
        [sys.executable, "-c", NOT_INSTALLED, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def listed(help_text):
    """The commands that a help text lists."""
    lines = (line.split() for line in help_text.splitlines() if line.startswith("│ "))
    return {words[1] for words in lines if len(words) > 2 and not words[1].startswith("-")}


def test_the_help_lists_the_commands_of_the_core_alone(core):
    done = said(core, "--help")

    assert (done.returncode, done.stderr) == (0, "")
    assert listed(done.stdout) == set(COMMANDS)


def test_with_the_pack_the_help_lists_its_commands_too(core):
    done = said(REPOSITORY, "--help")

    assert listed(done.stdout) == {*COMMANDS, *(name for name in PACK.commands if " " not in name)}


@pytest.mark.parametrize("words", [("sweep", "thresholds"), ("dataset", "lint")])
def test_a_command_of_the_pack_is_unknown_and_one_line_says_so(core, words):
    done = said(core, *words)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"evals: No such command '{words[0]}'")
    assert done.stderr.count("\n") == 1


def test_every_module_of_the_core_is_under_the_contract_that_keeps_the_pack_out():
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    [contract] = [each for each in contracts if each["name"].startswith("the core knows neither a pack")]
    code = {path.parent.name for path in PACKAGE.glob("*/__init__.py")} | {path.stem for path in PACKAGE.glob("*.py")}

    assert set(contract["source_modules"]) == {f"evals.{name}" for name in code - {"triage", "__init__", "__main__"}}
    assert contract["forbidden_modules"] == ["triage", "evals.triage"]

"""docs/langsmith.md is whole, and who does not ask for LangSmith does not load it."""

import subprocess
import sys

import pytest
from typer.main import get_command

from evals.cli.main import all_commands, command_line
from tests.builders.checkout import REPOSITORY

PAGE = (REPOSITORY / "docs" / "langsmith.md").read_text(encoding="utf-8")
COMMANDS = get_command(command_line(all_commands(), "langsmith")).commands["langsmith"].commands
OTHERS = "evals.cli.run_command evals.cli.verdict_commands evals.cli.report_commands evals.pipeline.decide_run"


def options(command):
    """Every option, those that switch off included."""
    named = {opt for param in command.params for opt in (*param.opts, *param.secondary_opts) if opt.startswith("--")}
    return named - {"--help", "--messages"}  # the latter is what happens anyway


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_and_option_is_named(command):
    assert f"evals langsmith {command}" in PAGE
    assert {option for option in options(COMMANDS[command]) if f"`{option}" not in PAGE and option not in PAGE} == set()


def loaded(code):
    """The modules of LangSmith's that are loaded by `code`, ours and the SDK's."""
    told = (
        f"import sys; {code}; print(*sorted(n for n in sys.modules if n.startswith(('evals.langsmith', 'langsmith'))))"
    )
    done = subprocess.run([sys.executable, "-c", told], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_the_command_line_begins_without_it():
    assert loaded("import evals, evals.cli.main") == []


def test_no_other_command_loads_what_is_ours():
    assert not [name for name in loaded(f"import {', '.join(OTHERS.split())}") if name.startswith("evals.langsmith")]

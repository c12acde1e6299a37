"""`import evals`: light, whole, and the very functions the commands call."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import evals

ROOT = Path(__file__).parents[2]
HEAVY = {"langgraph", "langchain_core", "chromadb", "pandas", "numpy", "openai", "pydantic", "yaml", "rich", "typer"}
COMMANDS = {
    "evals.cli.run_commands": ("run as pipeline", "RunRequest"),
    "evals.cli.analysis_commands": ("explain as explained",),
    "evals.cli.verdict_commands": ("decide", "write_report"),
    "evals.cli.export_commands": ("read_run", "write_report"),
    "evals.cli.terminal_output": ("replay",),
}


def imported(code):
    """The packages that are loaded by `code`, in a fresh process."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return set(re.findall(r"^import time:.*\| +([a-zA-Z_][\w.]*)", done.stderr, flags=re.MULTILINE))


def test_import_evals_loads_nothing_but_itself_and_its_loader():
    seen = imported("import evals")

    assert {name for name in seen if name.startswith("evals")} == {"evals", "evals.module_loader"}
    assert not seen & HEAVY


def test_a_suite_is_loaded_without_graph_and_tables():
    """What a person types first must not wait for what only a replay needs."""
    seen = {name.partition(".")[0] for name in imported("import evals; evals.load_suite('prompts')")}

    assert "yaml" in seen
    assert not seen & {"langgraph", "langchain_core", "chromadb", "pandas", "openai"}


@pytest.mark.parametrize("name", evals.__all__)
def test_every_public_name_is_there_and_documented(name):
    found = getattr(evals, name)

    assert (found.__doc__ or "").strip()
    assert name in dir(evals)


@pytest.mark.parametrize(("old", "new"), [("judge", "decide"), ("LoadedSuite", "RunContext")])
def test_an_old_public_name_works_and_warns(old, new):
    with pytest.warns(DeprecationWarning, match=f"evals.{old} is now evals.{new}"):
        assert getattr(evals, old) is getattr(evals, new)


def test_what_is_not_public_is_named_with_what_is():
    with pytest.raises(AttributeError, match=r"no attribute 'reply'; it has .*replay"):
        _ = evals.reply


@pytest.mark.parametrize(("module", "names"), COMMANDS.items(), ids=COMMANDS)
def test_the_commands_call_the_very_functions_of_the_door(module, names):
    called = vars(importlib.import_module(module))

    for name in names:
        public, _, there = name.partition(" as ")
        assert called[there or public] is getattr(evals, public)


def test_types_are_told_to_users():
    """Without this file mypy takes everything of an installed package for Any."""
    assert (ROOT / "evals" / "py.typed").is_file()

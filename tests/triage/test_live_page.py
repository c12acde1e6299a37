"""docs/live.md is whole: every variable that is read, every option of every command, every file that is written."""

import re
from pathlib import Path

import pytest
from typer.main import get_command

from tests.builders.desk import NEW, a_desk, triage_at
from triage.cli import app
from triage.settings import Settings

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "live.md").read_text(encoding="utf-8")
READ = re.compile(r"\"((?:TRIAGE|OPENAI|GITHUB|LANGSMITH|LANGCHAIN)_[A-Z][A-Z_]*)\"")
WITHIN = {"--help", "--version", "--host", "--port", "--yes", "--jobs", "--issue", "--job-id", "--resume", "--repo"}


def variables() -> set[str]:
    read = {name for path in (ROOT / "triage").rglob("*.py") for name in READ.findall(path.read_text(encoding="utf-8"))}
    return read | {f"TRIAGE_{name.upper()}" for name in Settings.model_fields}


@pytest.mark.parametrize("variable", sorted(variables()))
def test_every_variable_that_is_read_is_named(variable):
    assert f"`{variable}`" in PAGE


@pytest.mark.parametrize("command", sorted(get_command(app).commands))
def test_every_command_is_named(command):
    assert f"triage {command}" in PAGE


def test_every_option_of_a_job_is_named():
    options = {opt for param in get_command(app).commands["run"].params for opt in param.opts if opt.startswith("--")}

    assert {option for option in options - WITHIN if option not in PAGE} == set()


def test_every_file_a_job_writes_is_named(tmp_path, monkeypatch):
    a_desk(tmp_path, monkeypatch)
    with triage_at(monkeypatch) as (triage, _):
        triage("run", "--repo", "shop", *NEW)

    written = {path.name for path in (tmp_path / ".triage/one").iterdir()}
    assert {name for name in written if f"`{name}`" not in PAGE} == set()

"""`import evals`: light, whole, and the very functions the commands call."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import evals
from tests.builders.run import a_run

MEMBERS = {"decisions": "decisions", "steps": "visits", "calls": "calls"}
ROOT = Path(__file__).parents[2]
HEAVY = {"langgraph", "langchain_core", "chromadb", "pandas", "numpy", "openai", "pydantic", "yaml", "rich", "typer"}
COMMANDS = {
    "evals.cli.run_command": ("run as pipeline", "RunRequest"),
    "evals.cli.explain_command": ("explain as explained",),
    "evals.cli.verdict_commands": ("write_report",),
    "evals.pipeline.sharded_run": ("decide", "write_report"),
    "evals.cli.report_commands": ("read_run", "write_report"),
    "evals.cli.run_output": ("replay",),
}


def imported(code):
    """The packages that are loaded by `code`, in a fresh process."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return set(re.findall(r"^import time:.*\| +([a-zA-Z_][\w.]*)", done.stderr, flags=re.MULTILINE))


def test_import_evals_loads_nothing_but_itself_and_its_loader():
    seen = imported("import evals")

    assert {name for name in seen if name.startswith("evals")} == {"evals", "evals.source_loader"}
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


@pytest.mark.parametrize("name", ["cases", "variants"])
def test_a_text_where_several_names_belong_is_refused_with_what_to_write(name):
    with pytest.raises(evals.EvalsError, match=rf"{name}=\('one',\)"):
        evals.Options(**{name: "one"})


def test_a_path_may_be_a_text(tmp_path):
    run = a_run()
    evals.write_report(run, str(tmp_path / "out"))

    assert evals.read_run(str(tmp_path / "out" / "run.json")).verdict == run.verdict
    assert evals.load_suite("prompts", str(ROOT)).suite.name == "prompts"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: evals.load_suite("prompts", evals.Options()), "root is .*; give a path"),
        (lambda: evals.load_suite("prompts", ROOT, "v3"), "write options=Options"),
        (lambda: evals.read_run(None), "path is None; give a path"),
        (lambda: evals.frame(a_run(), "step"), "no rows 'step'.*did you mean 'steps'?"),
        (lambda: evals.frame(["run.json"]), "'run.json' is no run"),
        (lambda: evals.frame(3), "3 is no run"),
        (lambda: evals.compare("v3", "prompts", ROOT), r"sides is 'v3'; write \['v3', ...\]"),
        (lambda: evals.write_report("run.json", "out"), "'run.json' is no run; `read_run` reads"),
        (lambda: evals.replay("prompts"), r"'prompts' is no loaded suite; `load_suite` gives one"),
        (lambda: evals.run("prompts"), r"'prompts' is no request; write RunRequest\('prompts'\)"),
    ],
)
def test_a_wrong_argument_is_an_error_that_says_what_to_write(call, words):
    with pytest.raises(evals.EvalsError, match=words):
        call()


def test_a_run_at_the_end_of_a_cell_is_one_line_and_in_a_notebook_a_small_table():
    run = a_run()

    assert (
        repr(run)
        == f"<Run {run.suite}: {run.candidate} against {run.reference}, {len(run.trials)} trials, {run.verdict.status}>"
    )
    assert str(run) == repr(run)
    assert len(run._repr_html_()) < 5_000
    assert run.verdict.status in run._repr_html_()


def test_a_loaded_suite_is_one_line():
    assert len(repr(evals.load_suite("prompts", ROOT))) < 120


def test_frames_of_several_runs_say_which_run_a_row_is_of():
    table = evals.frame([a_run(), a_run()])

    assert sorted(set(table["run"])) == [0, 1]
    assert len(table) == 2 * len(a_run().frame())


@pytest.mark.parametrize("rows", ["scores", "decisions", "steps", "calls"])
def test_every_kind_of_rows_has_its_columns_also_where_there_is_no_row(rows):
    run = a_run()
    table = run.frame(rows)

    counts = {
        "scores": sum(len(trial.outcomes) for trial in run.trials),
        **{name: sum(len(getattr(trial.trace, member)) for trial in run.trials) for name, member in MEMBERS.items()},
    }
    assert len(table) == counts[rows]
    assert list(table.columns[:5]) == ["suite", "case", "variant", "sample", "provenance"]
    assert list(run.model_copy(update={"trials": ()}).frame(rows).columns) == list(table.columns)

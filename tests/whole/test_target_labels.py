"""Labels of a target: ready-made checks of output and tool calls, and labels that name nothing the graph has."""

import json
import re
from pathlib import Path

import pytest

from tests.builders.dataset import write
from tests.builders.example_projects import copied_after_a_run, evals

pytestmark = pytest.mark.slow


def relabelled(project: Path, case: str, was: str, now: str) -> None:
    """A case with one piece of text exchanged."""
    path = project / "evaluation" / "cases" / f"{case}.yaml"
    text = path.read_text(encoding="utf-8")
    assert was in text
    write(path, text.replace(was, now))


def test_tool_calls_are_steps_with_arguments_and_are_scored(tmp_path):
    project = copied_after_a_run("research", tmp_path)
    relabelled(project, "client-port", "route:", "tools: {search_handbook.query: {contains: [port]}}\nroute:")
    code, said = evals(project, "run", "supervisor", "--jobs", "1")

    assert (code, "labels, issue or code changed since the baseline: client-port" in said) == (3, True), said
    assert "tool.arguments" in said
    run = json.loads((project / "reports" / "latest" / "run.json").read_bytes())
    trace = next(trial for trial in run["trials"] if trial["trace"]["case_id"] == "client-port")
    assert trace["outcomes"]["tool.arguments"]["value"] == 1
    calls = [visit for visit in trace["trace"]["visits"] if visit["node"] == "search_handbook"]
    assert ["port" in call["arguments"]["query"].lower() for call in calls] == [True] * len(calls)
    assert calls


def test_the_report_names_the_tools_that_ran_for_real_and_no_recorded_one(tmp_path):
    project = copied_after_a_run("research", tmp_path)
    evals(project, "run", "supervisor", "--jobs", "1")
    latest = project / "reports" / "latest"

    assert re.search(r"search_handbook \(\d+ calls\)", (latest / "index.html").read_text())
    assert "Tools that ran for real" in (latest / "summary.md").read_text()
    write(project / "evals.toml", (project / "evals.toml").read_text() + 'tools = ["search_handbook"]\n')
    _, said = evals(project, "run", "supervisor", "--jobs", "1")
    assert "not recorded" in said
    assert "search_handbook (" not in (latest / "index.html").read_text()


def test_a_metric_whose_label_no_case_has_decides_nothing(tmp_path):
    project = copied_after_a_run("support", tmp_path)
    _, said = evals(project, "run", "router", "--jobs", "1")

    assert "output.expected" in said
    assert "tool.arguments" not in said
    assert "decision.score" not in said


@pytest.mark.parametrize(
    ("was", "now", "says"),
    [
        ("action:", "acton:", "only-leaving: expected 'acton': the output has no such field; did you mean 'action'?"),
        ("a: [technical]", "a: [tecnical]", "route 'tecnical': the graph has no such step; did you mean 'technical'?"),
        ("route:", "tools: {lookup: {equal: {}}}\nroute:", "tools 'lookup': the graph has no such tool; there are"),
    ],
)
def test_a_label_that_no_scorer_reads_cannot_be_judged(tmp_path, was, now, says):
    project = copied_after_a_run("support", tmp_path)
    relabelled(project, "only-leaving", was, now)
    code, said = evals(project, "run", "router", "--jobs", "1")

    assert (code, says in said) == (3, True), said
    code, said = evals(project, "bless", "router", "--jobs", "1", "--worse", "why not")
    assert (code, "not blessed: only-leaving: " in said) == (3, True), said


def test_an_output_that_the_graph_does_not_have_is_named(tmp_path):
    project = copied_after_a_run("support", tmp_path)
    write(project / "evals.toml", (project / "evals.toml").read_text().replace('"reply"', '"replay"'))
    code, said = evals(project, "run", "router", "--jobs", "1")

    assert (code, "evals.toml: [target] output: the graph's state has no 'replay'; did you mean 'reply'?" in said) == (
        3,
        True,
    ), said


def test_explain_shows_labels_steps_and_output_of_a_target(tmp_path):
    project = copied_after_a_run("research", tmp_path)
    relabelled(project, "client-port", "route:", "tools: {search_handbook.query: {contains: [port]}}\nroute:")
    code, said = evals(project, "explain", "client-port", "--suite", "supervisor")
    words = " ".join(said.split())

    assert code == 0, said
    assert 'expected answer: contains ["7411"]' in words
    assert 'tools search_handbook.query: contains ["port"]' in words
    assert "route ask_handbook at least once" in words
    assert "chose ask_handbook" in words
    assert 'search_handbook given {"query":' in words
    assert "output answer:" in words
    assert "nothing but the issue" not in words
    assert "gold" not in words

"""Commands that were written for triage, used on a target: exports to other tools, and suites that are not named."""

import json
import shutil

import pytest

from tests.builders.example_projects import copied, evals, pytest_at_once
from tests.builders.git import committed, git
from tests.builders.langsmith_fixtures import service

__all__ = ["service"]
pytestmark = pytest.mark.slow

CASE = "charged-twice"
TRIAGE = ("supervisor", "guards", "hardened", "root_cause", "findings", "reviews_task", "severity")


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """The support desk with a stored run of one case."""
    project = copied("support", tmp_path_factory.mktemp("exported"))
    code, said = evals(project, "run", "router", "--case", CASE)
    assert code == 3, said  # of one case only
    return project


def own_copy(project, folder):
    """For a test that changes it: the others share it, in any order."""
    return shutil.copytree(project, folder / project.name, ignore=shutil.ignore_patterns(".git"))


def push(service, project, *words):
    code, said = evals(project, "langsmith", "push", *words, LANGSMITH_ENDPOINT=service.url, LANGSMITH_API_KEY="a key")
    assert code == 0, said


def test_cases_of_a_target_become_examples_and_its_trials_runs(service, project):
    push(service, project, "cases")
    push(service, project, "--variant", "v1")

    assert [row["name"] for row in service.store.datasets.values()] == ["support"]  # the project's folder
    example = next(row for row in service.store.examples.values() if row["metadata"]["case"] == CASE)
    assert example["inputs"]["text"].startswith("My bank shows two payments")
    assert example["outputs"]["expected"]["action"] == {"equal": "refund"}
    assert [rule["id"] for rule in example["outputs"]["route"]] == ["billing-works-on-it", "not-technical"]
    runs = list(service.store.runs.values())
    names = [run["name"] for run in runs]
    assert sorted(names) == sorted([CASE, "router → billing", "billing", "confirm", "reply", *["claude"] * 3])
    root = next(run for run in runs if run["name"] == CASE)
    assert example["inputs"]["text"] in root["inputs"]["body"]
    assert root["outputs"]["output"]["queue"] == "billing"
    assert not [word for word in TRIAGE if word in json.dumps([example, runs])]


def test_spans_of_a_target_are_its_steps(project):
    code, said = evals(project, "export", "otlp", "--variant", "v1", "--content")
    assert code == 0, said

    (trace,) = (project / "traces.jsonl").read_text().splitlines()
    (resource,) = json.loads(trace)["resourceSpans"]
    spans = [span for scope in resource["scopeSpans"] for span in scope["spans"]]
    agents = [f"invoke_agent {name}" for name in ("router", "billing", "confirm", "reply")]
    assert [span["name"] for span in spans if "agent" in span["name"]] == agents
    assert spans[0]["name"] == "invoke_workflow router"
    assert '"triage_evals.decision.routed", "value": {"stringValue": "billing"}' in json.dumps(spans)
    assert "18.00 euros" in trace or "6.00 euros" in trace
    assert not [word for word in TRIAGE if word in trace]


def test_spans_of_a_subagent_are_below_the_tool_call_that_started_it(tmp_path):
    project = copied("research", tmp_path)
    evals(project, "run", "supervisor", "--case", "default-retention", "--case", "java")
    code, said = evals(project, "export", "otlp", "--variant", "v1")
    assert code == 0, said

    for line in (project / "traces.jsonl").read_text().splitlines():
        scopes = json.loads(line)["resourceSpans"][0]["scopeSpans"]
        spans = {span["spanId"]: span for scope in scopes for span in scope["spans"]}
        above = {span["name"]: spans.get(span.get("parentSpanId"), {}).get("name") for span in spans.values()}
        searched = [name.removeprefix("execute_tool search_") for name in above if "_tool search_" in name]
        assert searched, line
        for name in searched:
            assert above[f"execute_tool search_{name}"] == f"execute_tool ask_{name}"
            assert above[f"execute_tool ask_{name}"] == "invoke_workflow supervisor"
        parents = [spans[span["parentSpanId"]]["name"] for span in spans.values() if span["name"] == "chat claude"]
        assert set(parents) == {"invoke_agent model", *(f"execute_tool ask_{name}" for name in searched)}
        for span in spans.values():
            outer = spans.get(span.get("parentSpanId"), span)
            assert int(outer["startTimeUnixNano"]) <= int(span["startTimeUnixNano"])
            assert int(span["endTimeUnixNano"]) <= int(outer["endTimeUnixNano"])


def test_a_command_of_targets_says_where_there_is_none_what_it_needs(tmp_path):
    code, said = evals(tmp_path, "points", "first")

    assert code == 2, said
    assert "`evals points` needs a project with an evals.toml: go to its folder, or make one with `evals init`" in said


def test_results_of_another_runner_have_no_steps_and_say_nothing_of_them(tmp_path):
    for name, values in (("main", "111"), ("branch", "101")):
        rows = [f"c{number},exact,{value},said so" for number, value in enumerate(values)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["case,metric,value,output", *rows]))
    evals(tmp_path, "compare", "main.csv", "branch.csv")
    page = (tmp_path / "reports/compare/index.html").read_text(encoding="utf-8")

    assert "no step" not in page
    assert "exact" in page


def test_a_command_without_a_suite_says_which_there_are_or_takes_the_only_one(project, tmp_path):
    project = own_copy(project, tmp_path)
    git(project, "init")
    committed(project, "all")
    for words in (("history",), ("explain", CASE)):
        code, said = evals(project, *words)
        assert (code, "name one of replies, router" in said) == (2, True), said
    (project / "evaluation" / "suites" / "replies.yaml").unlink()

    code, said = evals(project, "history")

    assert (code, "Baselines of router" in said) == (0, True), said


def test_the_pytest_plugin_is_red_where_a_prompt_of_a_target_got_worse(tmp_path):
    project = copied("support", tmp_path)
    assert evals(project, "bless", "router")[0] == 0
    few = " or ".join(("verdict", "error-402-at-sign-in", "charged-twice"))
    words = ("--evals", "router", "-q", "-p", "no:anyio", "-k", few)
    code, said, _ = pytest_at_once(project, *words)
    assert (code, "7 passed" in said) == (0, True), said

    (project / "prompts/router/v1.md").write_bytes((project / "prompts/router/v2.md").read_bytes())
    code, said, _ = pytest_at_once(project, *words)
    assert code == 1, said
    assert "FAILED router::v1::error-402-at-sign-in" in said
    assert "FAILED router::verdict" in said
    assert "billing-works-on-it (hard 1: billing at least once)" in said
    assert "`evals explain error-402-at-sign-in --diff v2 v1 --suite router`" in said


@pytest.mark.parametrize("command", [("explain", CASE, "--suite", "router"), ("history", "router")])
def test_a_command_called_from_elsewhere_says_what_it_says_in_the_project(project, tmp_path, command):
    if not (project / ".git").exists():
        git(project, "init", "-q")
        committed(project, "first")
    here, there = evals(project, *command), evals(tmp_path, *command, "--root", str(project))

    assert there == here


def test_the_gate_names_commands_of_the_project(project, tmp_path):
    project = own_copy(project, tmp_path)
    prompt = project / "prompts/router/v1.md"
    partial, absent = evals(project, "gate"), evals(project, "gate", "nosuch.json")
    prompt.write_text(prompt.read_text() + "Think.\n")
    edited, again = evals(project, "gate"), evals(project, "run", "router", "--case", CASE)
    judged = evals(project, "gate")

    assert (absent[0], "`evals run SUITE` writes reports/latest" in absent[1]) == (2, True), absent
    assert (edited[0], "; run `evals run router` again" in edited[1]) == (3, True), edited
    assert (judged[0], "record them with `evals record router`" in judged[1]) == (3, True), judged
    assert not [word for word in ("make ", ".venv") if word in "".join((partial[1], again[1], judged[1]))]

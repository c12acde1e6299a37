"""Decision points of a target: each router is asked again, alone, in the states in which the reference decided."""

import json

import pytest

from tests.builders.dataset import write
from tests.builders.example_projects import copied, evals, live_model, say

pytestmark = pytest.mark.slow


def a_project(name, tmp_path, cases=2):
    """An example with its first cases only."""
    found = copied(name, tmp_path)
    for case in sorted((found / "evaluation" / "cases").glob("*.yaml"))[cases:]:
        if case.stem != "charged-twice":
            case.unlink()
    return found


def answers(project, variant):
    """Case -> what the variant chose at each of its decision points."""
    run = json.loads((project / "reports" / "latest" / "run.json").read_bytes())
    traces = (trial["trace"] for trial in run["trials"])
    return {
        trace["case_id"]: {point["point"]: point["chosen"] for point in trace["points"]}
        for trace in traces
        if trace["variant"] == variant
    }


def test_a_router_is_asked_alone_in_every_state_in_which_the_reference_decided(tmp_path):
    project = a_project("support", tmp_path)
    code, said = evals(project, "points", "router")
    assert (code, "3 decision points of v2 in 3 cases" in said) == (0, True), said
    file = project / "evaluation" / "points" / "charged-twice.yaml"
    assert "accept: {}" in file.read_text()
    assert "chosen: billing" in file.read_text()

    code, said = evals(project, "run", "router")
    assert (code, "labels, issue or code changed since the baseline" in said) == (3, True), said
    assert "decision.kept" in (project / "reports" / "latest" / "index.html").read_text()
    assert answers(project, "v2")["charged-twice"] == {"router-1": "billing"}
    assert set(answers(project, "v1")) == set(answers(project, "v2"))

    write(file, file.read_text().replace("accept: {}", "accept: {technical: 1}"))
    code, said = evals(project, "run", "router")
    assert (code, "decision.score" in said) == (3, True), said
    code, said = evals(project, "points", "router")
    assert (code, "accept:\n    technical: 1" in file.read_text()) == (0, True), said

    write(file, file.read_text().replace("technical: 1", "tecnical: 1"))
    code, said = evals(project, "run", "router")
    says = "charged-twice: accept 'tecnical': the graph has no such step; did you mean 'technical'?"
    assert (code, says in said) == (3, True), said


def test_tool_calls_of_an_agent_are_decisions_that_are_asked_alone_and_recorded(tmp_path):
    project = a_project("research", tmp_path)
    code, said = evals(project, "points", "supervisor")
    assert code == 0, said
    code, said = evals(project, "plan", "supervisor")
    if code:
        assert "decision points are unanswered" in said, said
        with live_model(say) as model:
            code, said = evals(project, "record", "supervisor", **model)
        assert code == 0, said
    assert evals(project, "run", "supervisor")[0] == 3
    kept = answers(project, "v2")
    assert all("supervisor-2" in points for points in kept.values())
    assert all(point for points in (kept | answers(project, "v1")).values() for point in points.values())


def test_an_unlabelled_decision_that_is_another_since_the_baseline_has_changed(tmp_path):
    project = a_project("support", tmp_path)
    suite = "variants: [{name: v2, config: {router: v2}}]\nas_blessed: []\nprimary: [route.pass]\n"
    write(project / "evaluation" / "suites" / "cold.yaml", suite)
    assert evals(project, "points", "cold")[0] == 0
    assert evals(project, "bless", "cold")[0] == 0

    write(project / "evaluation" / "suites" / "cold.yaml", suite.replace("router: v2", "router: v1"))
    code, said = evals(project, "run", "cold")
    assert (code, "decision point router-1 1" in said) == (3, True), said


def test_a_router_inside_a_tool_cannot_be_asked_alone_and_is_named(tmp_path):
    project = a_project("research", tmp_path, cases=1)
    write(project / "evals.toml", (project / "evals.toml").read_text().replace('["supervisor"]', '["handbook"]'))
    code, said = evals(project, "points", "supervisor")

    says = "handbook-1 is left out: runs inside tools, which is no subgraph of the graph"
    assert (code, says in said) == (3, True), said

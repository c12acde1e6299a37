"""`langsmith.evaluate` with our evaluators, over the live graph."""

import pytest
from langsmith import Client, evaluate

import evals as door
from evals.errors import ConfigurationError
from evals.langsmith.scorer_evaluators import evaluators
from evals.triage.langsmith.live_evaluation import target
from tests.builders.checkout import evals
from tests.builders.endpoint import a_team
from tests.builders.loopback import serving

NAMES = ("route.pass", "root_cause.hit", "cost.visits", "ask.topics")


@pytest.fixture
def evaluated(service, checkout, monkeypatch):
    """The service after an evaluation of both cases by some scorers."""
    evals(checkout, "langsmith", "push", "cases")
    with serving(a_team("investigator", "codebase_search", "critic", "writer")) as url:
        monkeypatch.setenv("TRIAGE_BASE_URL", url)
        monkeypatch.setenv("TRIAGE_CACHE_DIR", str(checkout / ".cache"))
        client = Client(service.url, api_key="a key")
        done = evaluate(
            target(prompt="v3", root=checkout),
            data="triage-evals",
            evaluators=evaluators(NAMES, root=checkout),
            experiment_prefix="live",
            client=client,
        )
        rows = list(done)
        client.flush()
        client.close()
    return service, rows


def test_the_live_graph_is_scored_by_our_scorers_under_our_keys(evaluated):
    service, rows = evaluated

    assert [row["run"].error for row in rows] == [None, None]
    runs = service.store.runs
    found = {(runs[row["run_id"]]["inputs"]["title"], row["key"]): row for row in service.store.feedback.values()}
    assert {key for _, key in found} == {*NAMES} - {"ask.topics"}  # which does not apply
    assert found["The sum is wrong", "cost.visits"]["score"] == 4


def test_what_was_traced_has_the_teams_tree_below_the_target(evaluated):
    service, _ = evaluated

    decisions = [run for run in service.store.runs.values() if run["name"] == "supervisor"]
    assert {run["extra"]["metadata"]["decision"] for run in decisions} >= {"investigator", "writer"}
    roots = {run["trace_id"] for run in decisions}
    assert all(service.store.runs[root]["reference_example_id"] in service.store.examples for root in roots)


def test_the_door_has_them():
    assert door.langsmith.evaluators is evaluators
    assert door.langsmith.target is target


def test_every_scorer_is_an_evaluator_unless_some_are_named(checkout):
    assert len(evaluators(root=checkout)) > 40
    assert [one.__name__ for one in evaluators(["route.pass"], root=checkout)] == ["route.pass"]


def test_a_scorer_that_is_none_is_one_line(checkout):
    with pytest.raises(ConfigurationError, match=r"no scorer is called 'route\.pas'"):
        evaluators(["route.pas"], root=checkout)

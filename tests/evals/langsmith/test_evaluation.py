"""`langsmith.evaluate` with our evaluators, over a function that returns a trace."""

import pytest
from langsmith import Client, evaluate

import evals as door
from evals.errors import ConfigurationError
from evals.langsmith.dataset_sync import evaluators
from tests.builders.checkout import evals
from tests.builders.trace import a_trace

NAMES = ("route.pass", "root_cause.hit", "cost.visits", "ask.topics")


def test_a_trace_is_scored_by_our_scorers_under_our_keys(service, checkout):
    evals(checkout, "langsmith", "push", "cases")

    def graph(inputs):
        return {"trace": a_trace().model_dump(mode="json"), "title": inputs["title"]}

    client = Client(service.url, api_key="a key")
    chosen = evaluators(NAMES, root=checkout)
    done = evaluate(graph, data="triage-evals", evaluators=chosen, experiment_prefix="live", client=client)
    rows = list(done)
    client.flush()
    client.close()

    assert [row["run"].error for row in rows] == [None, None]
    runs = service.store.runs
    found = {(runs[row["run_id"]]["inputs"]["title"], row["key"]): row for row in service.store.feedback.values()}
    assert {key for _, key in found} == {*NAMES} - {"ask.topics"}  # which does not apply
    assert found["The sum is wrong", "cost.visits"]["score"] == len(a_trace().visits)


def test_the_door_has_them():
    assert door.langsmith.evaluators is evaluators


def test_every_scorer_is_an_evaluator_unless_some_are_named(checkout):
    assert len(evaluators(root=checkout)) > 40
    assert [one.__name__ for one in evaluators(["route.pass"], root=checkout)] == ["route.pass"]


def test_a_scorer_that_is_none_is_one_line(checkout):
    with pytest.raises(ConfigurationError, match=r"no scorer is called 'route\.pas'"):
        evaluators(["route.pas"], root=checkout)

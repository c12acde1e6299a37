"""A trial as a tree of runs."""

import datetime as dt
from uuid import UUID

import pytest

from evals.langsmith.trial_runs import Experiment, example_id, feedback_id, run_id, tree_of
from tests.builders.run import a_case_info, a_trial
from tests.builders.trace import a_call, a_decision, a_trace, an_override

PROJECT = UUID("018f0000-0000-4000-8000-000000000001")
OTHER = UUID("018f0000-0000-4000-8000-000000000002")
BEGUN = dt.datetime(2026, 11, 23, 8, 0, tzinfo=dt.UTC)
HERE = Experiment(PROJECT, BEGUN)


def a_tree(trace, recorded=lambda _call: None, experiment=HERE):
    return tree_of(a_trial(trace), a_case_info(trace.case_id), experiment, None, recorded)


def outline(span, depth=0):
    """Names, indented."""
    return [f"{'  ' * depth}{span.name}", *(line for child in span.children for line in outline(child, depth + 1))]


def test_decisions_and_visits_take_turns_each_with_its_own_calls():
    calls = [a_call("supervisor"), a_call("investigator"), a_call("supervisor"), a_call("writer"), a_call("writer")]
    root = a_tree(a_trace("investigator", "writer", calls=calls))

    assert outline(root) == [
        "local-bug",
        "  supervisor → investigator",
        "    a-model",
        "  investigator",
        "    a-model",
        "  supervisor → writer",
        "    a-model",
        "  writer",
        "    a-model",
        "    a-model",
    ]


def test_a_correction_belongs_to_the_decision_that_needed_it():
    decisions = [a_decision(0, "human_input", corrections=1), a_decision(1, "writer")]
    calls = [a_call("supervisor"), a_call("supervisor"), a_call("supervisor"), a_call("writer")]
    root = a_tree(a_trace("human_input", "writer", decisions=decisions, calls=calls))

    assert [len(span.children) for span in root.children] == [2, 0, 1, 1]


def test_calls_of_a_step_that_never_ended_stand_below_the_trial():
    calls = [a_call("supervisor"), a_call("investigator"), a_call("critic")]
    root = a_tree(a_trace("investigator", provenance="failed", error="it broke", calls=calls))

    assert outline(root)[-1] == "  a-model"
    assert root.error == "it broke"


def test_an_override_is_a_tag_of_its_decision_and_choice_and_confidence_are_metadata():
    decision = a_decision(0, "writer", "investigator", 0.4, overrides=[an_override()])
    root = a_tree(a_trace("investigator", decisions=[decision]))

    span = root.children[0]
    assert span.tags == ("override:investigator_first",)
    assert span.metadata["chosen"], span.metadata["routed"] == ("writer", "investigator")
    assert span.metadata["confidence"] == 0.4


def test_a_call_has_model_tokens_and_its_recorded_time():
    root = a_tree(a_trace("writer", calls=[a_call("supervisor", prompt=100, completion=20, latency_ms=750.0)]))

    call = root.children[0].children[0].sent()
    assert call["run_type"] == "llm"
    metadata = call["extra"]["metadata"]
    assert metadata["ls_model_name"] == "a-model"
    assert metadata["usage_metadata"] == {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120}
    begun, ended = (dt.datetime.fromisoformat(call[name]) for name in ("start_time", "end_time"))
    assert (ended - begun).total_seconds() == 0.75


def test_a_search_is_a_tool_without_tokens():
    root = a_tree(a_trace("web_search", calls=[a_call("supervisor"), a_call("web_search", model="")]))

    call = root.children[1].children[0].sent()
    assert (call["name"], call["run_type"]) == ("search", "tool")
    assert "usage_metadata" not in call["extra"]["metadata"]


def test_untimed_steps_keep_their_order_and_say_that_they_were_not_timed():
    root = a_tree(a_trace(calls=[a_call(agent, latency_ms=0) for agent in ("supervisor", "investigator")]))

    starts = [span.start for span in root.children]
    assert starts == sorted(set(starts))
    assert root.metadata["times"] == "not recorded: a millisecond a step"


def test_a_trial_off_the_tape_has_an_error_that_says_where():
    root = a_tree(a_trace("investigator", provenance="frontier", frontier=2))

    assert root.error == "frontier@2: the recording ends here, nothing later is known"
    assert "frontier@2" in root.tags


def test_equal_content_has_equal_ids_and_another_experiment_others():
    trace = a_trace(calls=[a_call()])
    ids = [span.id for span in a_tree(trace).all()]

    assert ids == [span.id for span in a_tree(trace).all()]
    assert len({*ids}) == len(ids)
    assert not {*ids} & {span.id for span in a_tree(trace, experiment=Experiment(OTHER, BEGUN)).all()}


@pytest.mark.parametrize(
    "make",
    [
        lambda one: run_id(one, "case 0", BEGUN),
        lambda one: example_id(one, "case"),
        lambda one: feedback_id(one, "route.pass"),
    ],
)
def test_an_id_follows_from_what_it_is_of_and_from_nothing_else(make):
    assert make(PROJECT) == make(PROJECT)
    assert make(PROJECT) != make(OTHER)

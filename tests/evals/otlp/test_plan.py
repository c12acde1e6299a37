"""A run as traces: the tree, its times, and what they say without and with contents."""

import itertools
import json

import pytest

from evals.models.metrics import Failed, Scored, Skipped
from evals.otlp import attribute_names as names
from evals.otlp.span_data import ROOT
from evals.otlp.span_plan import planned_traces
from tests.builders.run import a_run, a_trial, a_variant_info
from tests.builders.trace import a_call, a_decision, a_trace, an_exchange, an_override

WAY = ("investigator", "web_search", "writer")
CALLS = ("supervisor", "investigator", "supervisor", "web_search", "web_search", "supervisor", "writer")


class NoWords:
    """Tapes on which nothing is."""

    untold = 0

    def words_of(self, *_):
        return {}


def a_walk(latency_ms=0.0, **fields):
    """Three visits, one of which searched the web; nothing says how long a call took."""
    made = [a_call(agent, latency_ms=latency_ms) for agent in CALLS]
    made[4] = a_call("web_search", latency_ms=latency_ms, model="", prompt=0, completion=0)
    return a_trace(*WAY, **{"calls": tuple(made), **fields})


def the_plan(trace, outcomes=None, tapes=None, **fields):
    trial = a_trial(trace, outcomes)
    (plan,) = planned_traces(a_run(trial, **fields), [trial], tapes)
    return plan


def by_path(plan):
    return {span.path: span for span in plan.spans}


def test_the_tree_is_the_trial_with_its_turns_and_their_calls():
    below = {(span.parent, span.name) for span in the_plan(a_walk()).spans}

    assert below == {
        (None, "invoke_workflow triage"),
        (ROOT, "invoke_agent supervisor"),
        (ROOT, "invoke_agent investigator"),
        (ROOT, "invoke_agent web_search"),
        (ROOT, "invoke_agent writer"),
        *((f"decision {number}", "chat a-model") for number in range(3)),
        *((f"visit {number}", "chat a-model") for number in range(3)),
        ("visit 1", "execute_tool tavily_search"),
    }


@pytest.mark.parametrize("latency_ms", [0.0, 250.0])
def test_a_child_lies_within_its_parent_and_a_step_begins_when_the_last_has_ended(latency_ms):
    spans = by_path(the_plan(a_walk(latency_ms)))

    for span in spans.values():
        if span.parent:
            assert spans[span.parent].start <= span.start <= span.end <= spans[span.parent].end
    turns = sorted((span for span in spans.values() if span.parent == ROOT), key=lambda span: span.start)
    assert all(one.end == two.start for one, two in itertools.pairwise(turns))
    assert turns[-1].end == spans[ROOT].end


def test_times_are_those_of_the_recording_where_every_call_has_one():
    spans = by_path(the_plan(a_walk(250.0)))

    assert spans[ROOT].end == len(CALLS) * 250_000_000
    assert {span.attributes[names.TIMES] for span in spans.values()} == {"recorded"}


def test_one_call_of_unknown_length_makes_all_times_an_order_only():
    trace = a_walk(250.0)
    calls = (*trace.calls[:-1], a_call("writer", latency_ms=0.0))
    spans = by_path(the_plan(trace.model_copy(update={"calls": calls})))

    assert spans[ROOT].end == len(CALLS) * 1_000_000
    assert {span.attributes[names.TIMES] for span in spans.values()} == {"order"}
    assert spans["call 0"].attributes["triage_evals.latency_ms"] == 250.0
    assert "triage_evals.latency_ms" not in spans["call 6"].attributes


def test_a_chat_says_who_was_asked_and_what_it_took():
    told = by_path(the_plan(a_walk()))["call 1"].attributes

    assert told[names.OPERATION] == "chat"
    assert told[names.PROVIDER] == "openai"
    assert told[names.REQUEST_MODEL] == told[names.RESPONSE_MODEL] == "a-model"
    assert (told[names.INPUT_TOKENS], told[names.OUTPUT_TOKENS]) == (100, 20)


def test_calls_of_a_worker_have_no_order_that_was_kept():
    spans = by_path(the_plan(a_walk()))

    assert spans["visit 1"].attributes[names.CALLS_ORDERED] is False
    assert names.CALLS_ORDERED not in spans["visit 0"].attributes


def test_a_call_of_no_known_turn_hangs_below_the_trial_and_says_so():
    trace = a_trace("critic", "critic", supersteps=(1, 1), decisions=[], calls=(a_call("critic"),))
    span = by_path(the_plan(trace))["call 0"]

    assert span.parent == ROOT
    assert span.attributes[names.PLACED] is False
    assert span.attributes[names.AGENT] == "critic"


def test_a_code_search_is_a_tool_that_says_how_much_it_read_and_with_contents_what():
    trace = a_trace("codebase_search")
    visit = trace.visits[0].model_copy(update={"read": ("pkg/core.py::run", "pkg/io.py")})
    trace = trace.model_copy(update={"visits": (visit,)})
    bare, told = (by_path(the_plan(trace, tapes=tapes))["visit 0 lookup"] for tapes in (None, NoWords()))

    assert bare.name == "execute_tool codebase_index"
    assert bare.attributes["triage_evals.places_read"] == 2
    assert names.TOOL_RESULT not in bare.attributes
    assert json.loads(told.attributes[names.TOOL_RESULT]) == ["pkg/core.py::run", "pkg/io.py"]


def test_an_override_is_an_event_of_its_decision():
    made = a_decision(0, "writer", routed="investigator", overrides=[an_override()])
    span = by_path(the_plan(a_trace("investigator", decisions=[made])))["decision 0"]

    assert (span.attributes["triage_evals.decision.chosen"], span.attributes["triage_evals.decision.routed"]) == (
        "writer",
        "investigator",
    )
    (event,) = span.events
    assert event.name == "triage_evals.override"
    assert event.attributes == {"rule": "investigator_first", "chosen": "writer", "send_to": "investigator"}


def test_scores_are_evaluation_events_and_skipped_ones_are_named():
    outcomes = {"route.pass": Scored(value=0.5), "root_cause.hit": Failed(error="KeyError: 'x'")}
    root = by_path(the_plan(a_walk(), outcomes | {"decision.score": Skipped(reason="none")}))[ROOT]

    assert [event.attributes for event in root.events if event.name == "gen_ai.evaluation.result"] == [
        {names.SCORE: "route.pass", names.SCORE_VALUE: 0.5},
        {names.SCORE: "root_cause.hit", names.ERROR_TYPE: "KeyError"},
    ]
    assert root.attributes["triage_evals.scores_skipped"] == ("decision.score",)
    assert root.attributes["triage_evals.score.route.pass"] == 0.5


@pytest.mark.parametrize(
    ("provenance", "error", "kind"),
    [
        ("exact", None, None),
        ("frontier", None, "not_recorded"),
        ("failed", "ValueError: token s3cr3t", "ValueError"),
        ("failed", "it broke", "_OTHER"),
    ],
)
def test_a_trial_without_an_end_has_failed_and_says_of_what_kind(provenance, error, kind):
    root = by_path(the_plan(a_walk(provenance=provenance, error=error)))[ROOT]

    assert root.attributes.get(names.ERROR_TYPE) == kind
    assert names.ERROR not in root.attributes


def test_without_contents_no_word_of_anybody_leaves():
    """Each text a person or a model wrote is a word of its own; none of them may be in any span."""
    trace = a_walk(
        decisions=[
            a_decision(0, "human_input", reasoning="WORD1", context="WORD2", question="WORD3", error="WORD4: x")
        ],
        exchanges=[an_exchange("WORD5", "WORD6")],
        comment="WORD7",
    )
    trial = a_trial(trace, {"route.score": Failed(error="WORD8: x")})
    (bare,), (full,) = (list(planned_traces(a_run(trial), [trial], tapes)) for tapes in (None, NoWords()))

    assert "WORD" not in bare.model_dump_json()
    assert "off by one" not in bare.model_dump_json()
    assert all(f"WORD{number}" in full.model_dump_json() for number in (1, 2, 3, 4, 7, 8))
    assert "off by one" in full.model_dump_json()


def test_a_question_is_an_event_of_the_visit_that_asked_it():
    trace = a_trace("human_input", "human_input", exchanges=[an_exchange("one?", topic="version"), an_exchange("two?")])
    spans = by_path(the_plan(trace, tapes=NoWords()))

    asked = [spans[f"visit {number}"].events[0].attributes for number in range(2)]
    assert [one["question"] for one in asked] == ["one?", "two?"]
    assert [one["known"] for one in asked] == [True, False]


def test_the_issue_and_the_report_are_messages_of_the_trial():
    root = by_path(the_plan(a_walk(), tapes=NoWords()))[ROOT]
    (asked,), (answered,) = (
        json.loads(root.attributes[name]) for name in (names.INPUT_MESSAGES, names.OUTPUT_MESSAGES)
    )

    assert asked == {"role": "user", "parts": [{"type": "text", "content": "It crashes\n\nIndexError in the worker."}]}
    assert "off by one" in answered["parts"][0]["content"]


def test_the_fallback_model_is_named_where_it_answered():
    info = a_variant_info()
    models = info.variant.models.model_copy(update={"fallback": "b-model"})
    info = info.model_copy(update={"variant": info.variant.model_copy(update={"models": models})})
    trace = a_walk(calls=(a_call("supervisor", model="b-model"), a_call("investigator", model="a-model-2026-11")))
    spans = by_path(the_plan(trace, variants=[info]))

    asked = [spans[f"call {number}"].attributes[names.REQUEST_MODEL] for number in range(2)]
    assert asked == ["b-model", "a-model"]


def test_every_name_of_an_attribute_is_conventional_or_ours():
    plan = the_plan(a_walk(decisions=[a_decision(0, overrides=[an_override()])]), tapes=NoWords())

    told = {name for span in plan.spans for name in span.attributes} | set(plan.resource)
    assert all(name.startswith(("gen_ai.", "triage_evals.")) or name in {"error.type", "service.name"} for name in told)
    assert not [(one, two) for one in told for two in told if two.startswith(f"{one}.")]

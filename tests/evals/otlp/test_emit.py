"""Through the SDK: what is exported is what was planned, whoever exports it and whatever the environment says."""

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from evals.errors import ConfigurationError
from evals.models.metrics import Scored
from evals.otlp.otlp_send import export, requests_of
from evals.otlp.span_plan import planned_traces
from tests.builders.run import a_run, a_trial
from tests.builders.trace import a_call, a_trace

NOON = 1_700_000_000_000_000_000
CALLS = tuple(a_call(agent) for agent in ("supervisor", "investigator", "supervisor", "codebase_search"))


def planned(run=None, trials=None):
    run = run or a_run(a_trial(a_trace(calls=CALLS)))
    return list(planned_traces(run, trials or run.trials))


def exported(plan):
    exporter = InMemorySpanExporter()
    export(plan, NOON, exporter)
    return exporter.get_finished_spans()


def test_the_sdk_has_every_planned_span_with_its_parent_and_times():
    (plan,) = planned()
    spans = exported(plan)

    assert [span.name for span in spans] == [span.name for span in plan.spans]
    ids = {one.path: span.context.span_id for one, span in zip(plan.spans, spans, strict=True)}
    for one, span in zip(plan.spans, spans, strict=True):
        assert (span.parent.span_id if span.parent else None) == (ids[one.parent] if one.parent else None)
        assert (span.start_time, span.end_time) == (NOON + one.start, NOON + one.end)
        assert dict(span.attributes) == one.attributes
        assert [(event.name, event.timestamp) for event in span.events] == [
            (event.name, NOON + event.at) for event in one.events
        ]


def test_a_trial_is_one_trace_and_another_trial_another_one():
    run = a_run(
        a_trial(a_trace(variant="v2")), a_trial(a_trace(variant="v3")), a_trial(a_trace(variant="v3", sample=1))
    )
    traces = [{span.context.trace_id for span in exported(plan)} for plan in planned(run)]

    assert [len(ids) for ids in traces] == [1, 1, 1]
    assert len(set.union(*traces)) == 3


def test_the_same_run_gives_the_same_bytes_and_the_same_ids_whatever_else_goes_with_it():
    run = a_run(a_trial(a_trace(case_id="one", calls=CALLS)), a_trial(a_trace(case_id="two", calls=CALLS)))
    whole, again = (list(requests_of(planned(run), NOON)) for _ in range(2))
    (alone,) = requests_of(planned(run, run.trials[1:]), NOON)

    assert [one.SerializeToString(deterministic=True) for one in whole] == [
        one.SerializeToString(deterministic=True) for one in again
    ]
    assert alone == whole[1]


def test_kinds_and_statuses_are_those_of_the_conventions():
    run = a_run(a_trial(a_trace(calls=CALLS, provenance="failed", error="ValueError: no")))
    spans = exported(planned(run)[0])

    assert {span.kind for span in spans if span.name.startswith("chat ")} == {SpanKind.CLIENT}
    assert {span.kind for span in spans if not span.name.startswith("chat ")} == {SpanKind.INTERNAL}
    assert spans[0].status.status_code is StatusCode.ERROR
    assert {span.status.status_code for span in spans[1:]} == {StatusCode.UNSET}


def test_no_limit_and_no_sampler_of_the_environment_cuts_anything(monkeypatch):
    """The SDK's default drops events past the 128th; a run may have more scores than that."""
    for name in ("OTEL_SPAN_EVENT_COUNT_LIMIT", "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "host.name=mine")
    run = a_run(a_trial(a_trace(calls=CALLS), {f"score.{number}": Scored(value=1.0) for number in range(200)}))
    (plan,) = planned(run)
    root = exported(plan)[0]

    assert len(root.events) > 200
    assert dict(root.attributes) == plan.spans[0].attributes
    assert dict(root.resource.attributes) == plan.resource


def test_an_sdk_that_is_switched_off_is_said_to_be_and_not_taken_for_nothing_to_do(monkeypatch):
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")

    with pytest.raises(ConfigurationError, match="OTEL_SDK_DISABLED is true"):
        exported(planned()[0])

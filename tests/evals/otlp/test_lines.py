"""The file format: protobuf's JSON with hex ids and numbered enums."""

import json

import pytest
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from evals.otlp.otlp_send import line_of, requests_of
from evals.otlp.span_plan import planned_traces
from tests.builders.receiver import spans_in
from tests.builders.run import a_run


@pytest.fixture
def request_():
    run = a_run()
    return next(requests_of(planned_traces(run, run.trials), 10**18))


def test_a_line_is_one_line_of_json_that_protobufs_own_parser_takes(request_):
    """It takes hex for base64, so that ids come out wrong and all the rest right."""
    line = line_of(request_)
    parsed = ParseDict(json.loads(line), ExportTraceServiceRequest())

    assert line.count("\n") == 1
    assert [span.name for span in spans_in(parsed)] == [span.name for span in spans_in(request_)]
    assert [span.attributes for span in spans_in(parsed)] == [span.attributes for span in spans_in(request_)]


def test_ids_are_hex_enums_are_numbers_and_nanoseconds_are_texts(request_):
    told = json.loads(line_of(request_))["resourceSpans"][0]["scopeSpans"][0]["spans"]
    spans = spans_in(request_)

    assert [span["traceId"] for span in told] == [span.trace_id.hex() for span in spans]
    assert [span.get("parentSpanId", "") for span in told] == [span.parent_span_id.hex() for span in spans]
    assert {span["kind"] for span in told} <= {1, 3}
    assert all(isinstance(span["startTimeUnixNano"], str) for span in told)

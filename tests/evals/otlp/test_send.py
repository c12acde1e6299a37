"""OTLP over HTTP, against a receiver on loopback that reads with the protocol's own classes."""

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceResponse,
)

from evals.errors import ConfigurationError, ServiceError
from evals.otlp.otlp_send import Receiver, headers_in, requests_of, traces_url
from evals.otlp.span_plan import planned_traces
from tests.builders.ports import a_reserved_port
from tests.builders.receiver import Answer, a_receiver
from tests.builders.run import a_run
from tests.builders.secret import PLANTED

PLAIN = (("content-type", "text/plain"),)


@pytest.fixture
def requests():
    run = a_run()
    return list(requests_of(planned_traces(run, run.trials), 10**18))


def deliver(received, requests, retries=3):
    """Send them all; returns the waits in between."""
    waits = []
    receiver = Receiver(received.url, {"x-key": "abc"}, waits.append, retries=retries)
    try:
        for request in requests:
            receiver.send(request)
    finally:
        receiver.close()
    return waits


def test_what_arrives_is_what_was_sent(requests):
    with a_receiver() as received:
        waits = deliver(received, requests)

    assert received.requests == requests
    assert waits == []
    assert received.paths == ["/v1/traces"] * len(requests)
    assert received.headers[0]["content-type"] == "application/x-protobuf"
    assert received.headers[0]["x-key"] == "abc"


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_what_passes_is_tried_again(requests, status):
    with a_receiver(Answer(status), Answer(status)) as received:
        waits = deliver(received, requests[:1])

    assert received.requests == [requests[0]] * 3
    assert waits == [1, 2]


def test_a_receiver_is_waited_for_as_long_as_it_asks_but_not_for_ever(requests):
    patient = [
        Answer(503, headers=(("retry-after", said),)) for said in ("7", "86400", "nan", "Mon, 23 Nov 2026 08:00:00 GMT")
    ]
    with a_receiver(*patient) as received:
        waits = deliver(received, requests[:1], retries=4)

    assert waits == [7, 30, 4, 8]


def test_patience_ends_with_what_was_answered_last(requests):
    impatient = pytest.raises(ServiceError, match=r"/v1/traces: answered 503 \(warming up\)$")
    with a_receiver(*[Answer(503, b"warming up", PLAIN)] * 9) as received, impatient:
        deliver(received, requests, retries=2)

    assert len(received.requests) == 3


@pytest.mark.parametrize(
    ("status", "remedy"),
    [
        (400, ""),
        (401, "; set OTEL_EXPORTER_OTLP_HEADERS.*"),
        (404, "; give the address.*"),
        (413, "; leave --content.*"),
        (500, ""),
        (302, ""),
    ],
)
def test_a_refusal_is_one_line_at_once(requests, status, remedy):
    one_line = pytest.raises(ServiceError, match=rf"answered {status} \(no, not so\){remedy}$")
    with a_receiver(Answer(status, b"no,\nnot so", PLAIN)) as received, one_line as refused:
        deliver(received, requests)

    assert refused.value.exit_code == 3
    assert len(received.requests) == 1


def test_a_refusal_repeats_no_secret(requests):
    answer = Answer(400, f"bad key {PLANTED['openai_key']}".encode(), PLAIN)
    with a_receiver(answer) as received, pytest.raises(ServiceError, match="withheld") as refused:
        deliver(received, requests)

    assert PLANTED["openai_key"] not in str(refused.value)


def test_spans_that_were_refused_are_no_success(requests):
    partial = ExportTracePartialSuccess(rejected_spans=2, error_message="too old")
    answer = Answer(body=ExportTraceServiceResponse(partial_success=partial).SerializeToString())
    with a_receiver(answer) as received, pytest.raises(ServiceError, match=r"refused 2 spans \(too old\)"):
        deliver(received, requests)


@pytest.mark.parametrize(
    "answer",
    [Answer(body=b""), Answer(body=b"{}", headers=(("content-type", "application/json"),)), Answer(body=b"\xff")],
)
def test_a_receiver_that_says_nothing_of_spans_has_taken_them(requests, answer):
    with a_receiver(answer) as received:
        deliver(received, requests[:1])

    assert len(received.requests) == 1


def test_nobody_there_is_said_at_once():
    waits = []
    message = r"not delivered \(.*refused.*\); see that OTLP/HTTP is taken there"

    request = next(requests_of(planned_traces(a_run(), a_run().trials), 0))

    with a_reserved_port() as port, pytest.raises(ServiceError, match=message):
        Receiver(f"http://127.0.0.1:{port}", {}, waits.append).send(request)
    assert waits == []


def test_an_answer_that_cannot_be_read_is_one_line(requests):
    garbled = Answer(body=b"no gzip", headers=(("content-encoding", "gzip"),))
    with a_receiver(garbled) as received, pytest.raises(ServiceError, match="not delivered"):
        deliver(received, requests)


def test_a_connection_that_is_cut_later_is_tried_again(requests):
    with a_receiver(Answer(), Answer(cut=True)) as received:
        waits = deliver(received, requests)

    assert received.requests == [requests[0], requests[1], requests[1]]
    assert waits == [1]


@pytest.mark.parametrize(
    ("endpoint", "url"),
    [
        ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
        ("http://127.0.0.1:4318/", "http://127.0.0.1:4318/v1/traces"),
        ("https://host.example/api/public/otel", "https://host.example/api/public/otel/v1/traces"),
        ("https://host.example/v1/traces", "https://host.example/v1/traces"),
    ],
)
def test_the_path_of_the_protocol_is_added_where_it_is_missing(endpoint, url):
    assert traces_url(endpoint) == url


@pytest.mark.parametrize(
    "endpoint",
    [
        "",
        "127.0.0.1:4318",
        "grpc://host:4317",
        "http://",
        "http://host:port",
        "http://[::1",
        "http://exa mple",
        "http://h:99999",
        "file:///tmp/x",
    ],
)
def test_what_is_no_address_is_refused_with_an_example(endpoint):
    with pytest.raises(ConfigurationError, match=r"give an address such as http://127\.0\.0\.1:4318"):
        traces_url(endpoint)


@pytest.mark.parametrize("endpoint", ["https://jane:hunter2@host.example", "https://host.example?key=abc"])
def test_a_credential_in_the_address_is_refused_and_not_repeated(endpoint):
    with pytest.raises(ConfigurationError, match="put keys into OTEL_EXPORTER_OTLP_HEADERS") as refused:
        traces_url(endpoint)
    assert "hunter2" not in str(refused.value)


def test_headers_are_those_of_the_standards_variables_the_particular_one_first():
    told = {
        "OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Basic%20YWJj, x-a=1",
        "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "x-a=2,",
    }

    assert headers_in(told) == {"authorization": "Basic YWJj", "x-a": "2"}
    assert headers_in({}) == {}


@pytest.mark.parametrize("spelled", ["hunter2", "=hunter2", "key=hunter2%0Ax-b: 1", "key=hunter2%C3%A9"])
def test_headers_spelled_otherwise_are_refused_and_not_repeated(spelled):
    with pytest.raises(ConfigurationError, match="write name=value") as refused:
        headers_in({"OTEL_EXPORTER_OTLP_HEADERS": spelled})
    assert "hunter2" not in str(refused.value)

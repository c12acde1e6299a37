"""A receiver of OTLP/HTTP on loopback that reads what it gets with the protocol's own classes."""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.builders.http_server import Handler, running

IDS = {"traceId", "spanId", "parentSpanId"}
TAKEN = ExportTraceServiceResponse().SerializeToString()


@dataclass(frozen=True)
class Answer:
    """What the receiver says to one request; `cut` hangs up without a word."""

    status: int = 200
    body: bytes = TAKEN
    headers: tuple[tuple[str, str], ...] = (("content-type", "application/x-protobuf"),)
    cut: bool = False


@dataclass
class Received:
    """All that came in, and what is still to be answered; without an answer of its own a request is taken."""

    url: str = ""
    answers: list[Answer] = field(default_factory=list)
    requests: list[ExportTraceServiceRequest] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    @property
    def spans(self) -> list[Span]:
        return [span for request in self.requests for span in spans_in(request)]


def spans_in(request: ExportTraceServiceRequest) -> list[Span]:
    return [span for resource in request.resource_spans for scope in resource.scope_spans for span in scope.spans]


@contextmanager
def a_receiver(*answers: Answer) -> Iterator[Received]:
    """A receiver that gives these answers first, until the block ends."""
    received = Received(answers=list(answers))

    class Traces(Handler):
        def do_POST(self) -> None:
            received.requests.append(ExportTraceServiceRequest.FromString(self.body()))
            received.paths.append(self.path)
            received.headers.append({name.lower(): value for name, value in self.headers.items()})
            answer = received.answers.pop(0) if received.answers else Answer()
            if answer.cut:
                self.close_connection = True
                return
            self.answer(answer.status, answer.body, **dict(answer.headers))

    with running(Traces) as server:
        received.url = server.url
        yield received


def request_in(line):
    """The request in a line of OTLP/JSON, whose ids are hex where protobuf's own JSON has base64."""

    def with_base64(value):
        if isinstance(value, dict):
            return {name: as_base64(each) if name in IDS else with_base64(each) for name, each in value.items()}
        return [with_base64(each) for each in value] if isinstance(value, list) else value

    def as_base64(text):
        return base64.b64encode(bytes.fromhex(text)).decode()

    return ParseDict(with_base64(json.loads(line)), ExportTraceServiceRequest())

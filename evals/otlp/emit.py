"""Planned traces as spans of the OpenTelemetry SDK, with ids that follow from what they are.

The SDK's own environment would cut texts short, drop events past the 128th, or sample: none of that is let in.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import Span, SpanKind, StatusCode, set_span_in_context

from evals.errors import ConfigurationError
from evals.otlp import names
from evals.otlp.planned import PlannedSpan, PlannedTrace

SCOPE = "evals.otlp"
_KINDS = {"internal": SpanKind.INTERNAL, "client": SpanKind.CLIENT}
_NO_LIMIT = SpanLimits.UNSET


class GivenIds(IdGenerator):
    """The ids that were set last."""

    trace_id = 0
    span_id = 0

    def generate_trace_id(self) -> int:
        """As it was set."""
        return self.trace_id

    def generate_span_id(self) -> int:
        """As it was set."""
        return self.span_id


def trace_id_of(trace: PlannedTrace) -> int:
    """128 bits of a digest over run, case, variant and sample: an equal trial is the same trace in every export."""
    return _bits(16, *trace.identity)


def span_id_of(trace: PlannedTrace, path: str) -> int:
    """64 bits of a digest over the trace and the step."""
    return _bits(8, *trace.identity, path)


def requests_of(traces: Iterable[PlannedTrace], began_ns: int) -> Iterator[ExportTraceServiceRequest]:
    """One request for each trace, all of them begun at `began_ns`, nanoseconds since 1970.

    Raises:
        ConfigurationError: the environment switches the SDK off.
    """
    exporter = InMemorySpanExporter()
    for trace in traces:
        export(trace, began_ns, exporter)
        yield encode_spans(exporter.get_finished_spans())
        exporter.clear()


def export(trace: PlannedTrace, began_ns: int, exporter: SpanExporter) -> None:
    """Give an exporter of the SDK the spans of a trace, each after its parent.

    Raises:
        ConfigurationError: the environment switches the SDK off.
    """
    if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        raise ConfigurationError("OTEL_SDK_DISABLED is true, so that nothing can be exported; unset it")
    ids = GivenIds()
    ids.trace_id = trace_id_of(trace)
    tracer = _provider(trace, ids, exporter).get_tracer(SCOPE)
    begun: dict[str, Span] = {}
    for planned in trace.spans:
        ids.span_id = span_id_of(trace, planned.path)
        begun[planned.path] = span = tracer.start_span(
            planned.name,
            context=set_span_in_context(begun[planned.parent]) if planned.parent else None,
            kind=_KINDS[planned.kind],
            attributes=planned.attributes,
            start_time=began_ns + planned.start,
        )
        _finish(span, planned, began_ns)


def _finish(span: Span, planned: PlannedSpan, began_ns: int) -> None:
    for event in planned.events:
        span.add_event(event.name, event.attributes, began_ns + event.at)
    if names.ERROR_TYPE in planned.attributes:
        span.set_status(StatusCode.ERROR, str(planned.attributes.get(names.ERROR, "")) or None)
    span.end(began_ns + planned.end)


def _provider(trace: PlannedTrace, ids: IdGenerator, exporter: SpanExporter) -> TracerProvider:
    limits = SpanLimits(
        max_attributes=_NO_LIMIT,
        max_events=_NO_LIMIT,
        max_links=_NO_LIMIT,
        max_span_attributes=_NO_LIMIT,
        max_event_attributes=_NO_LIMIT,
        max_link_attributes=_NO_LIMIT,
        max_attribute_length=_NO_LIMIT,
        max_span_attribute_length=_NO_LIMIT,
    )
    provider = TracerProvider(
        sampler=ALWAYS_ON,
        resource=Resource(trace.resource),
        id_generator=ids,
        span_limits=limits,
        shutdown_on_exit=False,
    )
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider


def _bits(count: int, *parts: str) -> int:
    digest = hashlib.sha256("\0".join(parts).encode()).digest()
    return int.from_bytes(digest[:count], "big") or 1  # all zeros is no id

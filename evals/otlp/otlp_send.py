"""Spans sent over OTLP/HTTP or written as JSON lines."""

import base64
import hashlib
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import httpx
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import DecodeError
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import Span, SpanKind, StatusCode, set_span_in_context
from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from evals.errors import ConfigurationError, ServiceError
from evals.otlp import attribute_names as names
from evals.otlp.span_data import PlannedSpan, PlannedTrace
from evals.secret_filter import scrub

PATH: Final = "/v1/traces"
RETRIES: Final = 4
TIMEOUT_S: Final = 10.0
LONGEST_WAIT_S: Final = 30.0
HEADERS: Final = ("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS")
"""The standard's variables, the particular one last: it has the word."""
_PASSING: Final = frozenset({429, 502, 503, 504})
_SHOWN: Final = 200
_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""A header's name, as RFC 9110 has it."""
_REMEDIES: Final = {
    401: "; set OTEL_EXPORTER_OTLP_HEADERS to what it asks for",
    403: "; set OTEL_EXPORTER_OTLP_HEADERS to what it asks for",
    404: f"; give the address below which {PATH} is",
    413: "; leave --content out, or let it take more",
}


class _Passing(Exception):  # noqa: N818 - no error yet: it is tried again
    """An answer that may be another one soon, and how long it asks to wait."""

    def __init__(self, message: str, wait_s: float = 0.0) -> None:
        self.wait_s = wait_s
        super().__init__(message)


class Receiver:
    """Where traces go. `sleep` waits that many seconds."""

    def __init__(
        self,
        endpoint: str,
        headers: Mapping[str, str],
        sleep: Callable[[float], None],
        *,
        retries: int = RETRIES,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self.url = traces_url(endpoint)
        told = {**headers, "content-type": "application/x-protobuf"}
        self._client = httpx.Client(headers=told, timeout=timeout_s, trust_env=not _is_loopback(self.url))
        self._heard = False
        self._retrying = Retrying(
            sleep=sleep,
            stop=stop_after_attempt(retries + 1),
            wait=_wait,
            retry=retry_if_exception_type(_Passing),
            reraise=True,
        )

    def send(self, request: ExportTraceServiceRequest) -> None:
        """Deliver one request.

        Raises:
            ServiceError: nobody is there, it was refused, or some of its spans were.
        """
        body = request.SerializeToString()
        try:
            self._retrying(self._post, body)
        except _Passing as error:
            raise ServiceError(f"{self.url}: {error}") from None

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _post(self, body: bytes) -> None:
        try:
            response = self._client.post(self.url, content=body)
        except httpx.RequestError as error:
            said = f"not delivered ({scrub(str(error) or type(error).__name__)}); see that OTLP/HTTP is taken there"
            raise _Passing(said) if self._heard else ServiceError(f"{self.url}: {said}") from None
        self._heard = True
        if response.status_code in _PASSING:
            raise _Passing(_refusal(response), _asked_for(response))
        if not response.is_success:
            raise ServiceError(f"{self.url}: {_refusal(response)}")
        _check(response, self.url)


def traces_url(endpoint: str) -> str:
    """The address spans are posted to: `endpoint`, with the protocol's path unless it ends in that.

    Raises:
        ConfigurationError: it is no address, or holds a credential.
    """
    try:
        parts = urlsplit(endpoint)
        named = bool(httpx.URL(endpoint).host) and not re.search(r"[\s%]", parts.netloc)
        sound = parts.scheme in {"http", "https"} and named and (parts.port or 1) > 0
    except (ValueError, httpx.InvalidURL):
        sound = False
    if not sound:
        raise ConfigurationError(f"--endpoint {scrub(endpoint)}: give an address such as http://127.0.0.1:4318")
    if parts.username or parts.password or parts.query or scrub(endpoint) != endpoint:
        raise ConfigurationError(f"--endpoint: the address holds a credential or a query; put keys into {HEADERS[0]}")
    address = endpoint.rstrip("/")
    return address if address.endswith(PATH) else address + PATH


def headers_in(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The headers of the standard's variables: `name=value` with commas between, values percent-encoded.

    Raises:
        ConfigurationError: a variable is spelled otherwise; what it holds is not repeated.
    """
    found: dict[str, str] = {}
    for variable in HEADERS:
        for pair in filter(None, map(str.strip, environment.get(variable, "").split(","))):
            name, separator, value = (part.strip() for part in pair.partition("="))
            text = unquote(value)
            if not (separator and _NAME.fullmatch(name) and text.isascii() and text.isprintable()):
                raise ConfigurationError(f"{variable}: write name=value with commas between, values percent-encoded")
            found[name.lower()] = text
    return found


def _is_loopback(url: str) -> bool:
    """No proxy stands between us and this machine."""
    host = urlsplit(url).hostname or ""
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost"


def _wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    asked = error.wait_s if isinstance(error, _Passing) else 0.0
    return min(asked or wait_exponential(max=LONGEST_WAIT_S)(state), LONGEST_WAIT_S)


def _asked_for(response: httpx.Response) -> float:
    """`Retry-After` in seconds; a date counts as nothing said."""
    try:
        seconds = float(response.headers.get("retry-after", ""))
    except ValueError:
        return 0.0
    return max(0.0, seconds) if math.isfinite(seconds) else 0.0


def _refusal(response: httpx.Response) -> str:
    said = " ".join(scrub(response.text[: 10 * _SHOWN]).split())[:_SHOWN]
    words = f" ({said})" if said and said.isprintable() else ""
    return f"answered {response.status_code}{words}{_REMEDIES.get(response.status_code, '')}"


def _check(response: httpx.Response, url: str) -> None:
    """A receiver may take some spans and refuse others; one that does not answer in protobuf has taken all."""
    if "protobuf" not in response.headers.get("content-type", ""):
        return
    try:
        partial = ExportTraceServiceResponse.FromString(response.content).partial_success
    except DecodeError:
        return
    if partial.rejected_spans:
        raise ServiceError(f"{url}: refused {partial.rejected_spans} spans ({scrub(partial.error_message)[:_SHOWN]})")


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


_IDS = frozenset({"traceId", "spanId", "parentSpanId"})


def line_of(request: ExportTraceServiceRequest) -> str:
    """The request as one line of OTLP/JSON, its end included."""
    told = MessageToDict(request, use_integers_for_enums=True)
    return json.dumps(_with_hex_ids(told), ensure_ascii=False, separators=(",", ":")) + "\n"


def _with_hex_ids(value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    """JSON of protobuf has ids in base64; JSON of OTLP has them in hex."""
    if isinstance(value, dict):
        ids = {name: base64.b64decode(value[name]).hex() for name in _IDS & value.keys()}
        return {name: ids.get(name) or _with_hex_ids(each) for name, each in value.items()}
    return [_with_hex_ids(each) for each in value] if isinstance(value, list) else value

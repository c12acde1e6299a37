"""OTLP as JSON, a request per line: what OpenTelemetry's collector writes with its file exporter and reads back.

It is protobuf's JSON with two differences: ids are hex and not base64, enums are numbers and not names.
"""

import base64
import json
from collections.abc import Callable
from typing import Any

from google.protobuf.json_format import MessageToDict, ParseDict, ParseError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

_IDS = frozenset({"traceId", "spanId", "parentSpanId"})


def line_of(request: ExportTraceServiceRequest) -> str:
    """The request as one line of OTLP/JSON, its end included."""
    told = MessageToDict(request, use_integers_for_enums=True)
    return json.dumps(_with_ids(told, _to_hex), ensure_ascii=False, separators=(",", ":")) + "\n"


def request_in(line: str) -> ExportTraceServiceRequest:
    """The request a line holds.

    Raises:
        ValueError: it is none.
    """
    try:
        request = ExportTraceServiceRequest()
        ParseDict(_with_ids(json.loads(line), _to_base64), request)
    except (ParseError, ValueError) as error:
        raise ValueError(f"no OTLP/JSON request: {error}") from None
    return request


def _with_ids(value: Any, spelled: Callable[[str], str]) -> Any:  # noqa: ANN401 - whatever JSON holds
    if isinstance(value, dict):
        return {name: spelled(each) if name in _IDS else _with_ids(each, spelled) for name, each in value.items()}
    return [_with_ids(each, spelled) for each in value] if isinstance(value, list) else value


def _to_hex(text: str) -> str:
    return base64.b64decode(text).hex()


def _to_base64(text: str) -> str:
    return base64.b64encode(bytes.fromhex(text)).decode()

"""Task arguments as JSON text and back, with a few tagged types JSON does not have."""

import base64
import json
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from taskmill.errors import PayloadError

_TAG = "$type"
_MAX_BYTES = 256 * 1024

# Order matters: a datetime is also a date.
_ENCODERS: tuple[tuple[type, str, Callable[[Any], Any]], ...] = (
    (datetime, "datetime", lambda value: value.isoformat()),
    (date, "date", lambda value: value.isoformat()),
    (timedelta, "timedelta", lambda value: [value.days, value.seconds, value.microseconds]),
    (Decimal, "decimal", str),
    (bytes, "bytes", lambda value: base64.b64encode(value).decode("ascii")),
    (set, "set", lambda value: sorted(value)),
)

_DECODERS: dict[str, Callable[[Any], Any]] = {
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "timedelta": lambda parts: timedelta(days=parts[0], seconds=parts[1], microseconds=parts[2]),
    "decimal": Decimal,
    "bytes": base64.b64decode,
    "set": set,
}


def _encode_special(value: Any) -> dict[str, Any]:
    for kind, name, encode in _ENCODERS:
        if isinstance(value, kind):
            return {_TAG: name, "value": encode(value)}
    raise PayloadError(f"cannot store a {type(value).__name__} as a task argument")


def _decode_special(found: dict[str, Any]) -> Any:
    if _TAG not in found:
        return found
    decode = _DECODERS.get(found[_TAG])
    if decode is None:
        raise PayloadError(f"unknown tag {found[_TAG]!r} in a stored payload")
    return decode(found["value"])


def dump_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Arguments as JSON text. Raises PayloadError for foreign types and payloads above 256 kB."""
    try:
        text = json.dumps(
            {"args": list(args), "kwargs": kwargs}, default=_encode_special, separators=(",", ":"), allow_nan=False
        )
    except ValueError as error:
        raise PayloadError(str(error)) from error
    if len(text.encode("utf-8")) > _MAX_BYTES:
        raise PayloadError(f"payload above {_MAX_BYTES} bytes; store the data elsewhere and pass a reference")
    return text


def load_arguments(text: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The inverse of `dump_arguments`. Raises PayloadError when the text is not a payload."""
    try:
        document = json.loads(text, object_hook=_decode_special)
        return tuple(document["args"]), dict(document["kwargs"])
    except (KeyError, TypeError, ValueError) as error:
        raise PayloadError(f"stored payload cannot be read: {error}") from error

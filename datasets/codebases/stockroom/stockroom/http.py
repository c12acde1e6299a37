"""Requests and responses as values, on both sides of the WSGI interface."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl

from stockroom.auth import Principal
from stockroom.errors import Unauthorized, ValidationError

MAX_BODY_BYTES = 1_000_000


@dataclass(frozen=True)
class Request:
    """One call, parsed. `principal` and `params` are filled in on the way to the handler."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    params: Mapping[str, str] = field(default_factory=dict)
    principal: Principal | None = None
    request_id: str = "-"

    @classmethod
    def from_environ(cls, environ: Mapping[str, Any], request_id: str = "-") -> Request:
        """Read a WSGI environment. Raises ValidationError on an oversized or unreadable body."""
        headers = {
            name[5:].replace("_", "-").lower(): value
            for name, value in environ.items()
            if name.startswith("HTTP_")
        }
        path = environ.get("PATH_INFO", "").encode("latin-1").decode("utf-8", "replace")
        return cls(
            method=environ.get("REQUEST_METHOD", "GET").upper(),
            path=path or "/",
            query=dict(parse_qsl(environ.get("QUERY_STRING", ""), keep_blank_values=True)),
            headers=headers,
            body=_read_body(environ),
            request_id=request_id,
        )

    def json(self) -> dict[str, Any]:
        """The body as a JSON object."""
        try:
            document = json.loads(self.body.decode("utf-8"))
        except (UnicodeDecodeError, json.JSONDecodeError) as error:
            raise ValidationError(f"body is not JSON: {error}") from error
        if not isinstance(document, dict):
            raise ValidationError("body must be a JSON object")
        return document

    def bearer_token(self) -> str:
        """The token of the Authorization header."""
        scheme, _, token = self.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise Unauthorized("a bearer token is required", "token_missing")
        return token.strip()

    @property
    def caller(self) -> Principal:
        """Whom the token speaks for; only called on routes that require one."""
        if self.principal is None:
            raise Unauthorized("a bearer token is required", "token_missing")
        return self.principal

    def routed(self, params: Mapping[str, str], principal: Principal | None) -> Request:
        """The same request with what routing and authentication found out."""
        return replace(self, params=params, principal=principal)


@dataclass(frozen=True)
class Response:
    """One answer."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of_json(cls, document: object, status: int = 200) -> Response:
        """A JSON answer with sorted keys."""
        return cls(status, json.dumps(document, sort_keys=True, ensure_ascii=False).encode("utf-8"))

    @classmethod
    def of_text(cls, lines: Iterable[str], content_type: str) -> Response:
        """A text answer, one line per element."""
        return cls(200, "".join(f"{line}\r\n" for line in lines).encode("utf-8"), content_type)

    @property
    def status_line(self) -> str:
        """The status as WSGI wants it, for example `404 Not Found`."""
        return f"{self.status} {HTTPStatus(self.status).phrase}"

    def header_list(self) -> list[tuple[str, str]]:
        """All headers, content type and length included."""
        return [
            ("Content-Type", f"{self.content_type}; charset=utf-8"),
            ("Content-Length", str(len(self.body))),
            *self.headers,
        ]


def _read_body(environ: Mapping[str, Any]) -> bytes:
    try:
        length = int(environ.get("CONTENT_LENGTH") or 0)
    except ValueError:
        raise ValidationError("Content-Length is not a number") from None
    if length > MAX_BODY_BYTES:
        raise ValidationError(f"body is larger than {MAX_BODY_BYTES} bytes")
    return environ["wsgi.input"].read(length) if length else b""

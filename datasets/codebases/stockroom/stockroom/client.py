"""A client that calls an application in process, for scripts and tests."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        """The body, parsed."""
        return json.loads(self.body)


class LocalClient:
    """Speaks WSGI to an application the way a server would."""

    def __init__(self, application: Callable[..., Any], token: str = "") -> None:
        self._application = application
        self._token = token

    def call(self, method: str, url: str, document: object = None) -> Answer:
        """Send one request; `url` is percent-encoded as on the wire."""
        parts = urlsplit(url)
        body = b"" if document is None else json.dumps(document).encode("utf-8")
        environ = {
            "REQUEST_METHOD": method,
            "PATH_INFO": unquote_to_bytes(parts.path).decode("latin-1"),
            "QUERY_STRING": parts.query,
            "CONTENT_LENGTH": str(len(body)),
            "wsgi.input": io.BytesIO(body),
        }
        if self._token:
            environ["HTTP_AUTHORIZATION"] = f"Bearer {self._token}"
        started: list[Any] = []
        chunks = self._application(environ, lambda status, headers: started.extend((status, headers)))
        return Answer(int(started[0].split()[0]), dict(started[1]), b"".join(chunks))

    def get(self, url: str) -> Answer:
        """GET."""
        return self.call("GET", url)

    def post(self, url: str, document: object) -> Answer:
        """POST with a JSON body."""
        return self.call("POST", url, document)

"""The last step before the network: requests made to a placeholder host go to the real endpoint, with its key.

The graph always talks to the same placeholder, so that a request's key does not depend on who recorded it.
"""

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
import httpx2

from evals.cassette.redact import scrub
from evals.errors import ConfigurationError
from evals.recording.search_server import CASE_HEADER

case_being_recorded: Final[ContextVar[str]] = ContextVar("case_being_recorded", default="")
"""Told to the search server, which keeps some pages from some cases."""


CONNECT_S: Final = 15.0
"""A host that lets nobody in for so long is down, however long its answers may take."""


class Endpoint:
    """Where requests really go: `base_url` as users give it (`https://host/v1`), and the key that opens it."""

    def __init__(self, base_url: str, api_key: str) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ConfigurationError(
                f"{scrub(base_url)!r} is no endpoint; give its base URL, as in http://127.0.0.1:8091/v1"
            )
        if (
            parts.username or parts.password or scrub(base_url) != base_url
        ):  # it is named in every report of a recording
            raise ConfigurationError(
                "the endpoint's URL holds a credential; give the key by --api-key-env, not in the URL"
            )
        self.base_url = base_url.rstrip("/")
        self._api_key = api_key

    def url(self, path_and_query: str, prefix: str) -> str:
        """The address of a request whose placeholder address ends in `path_and_query`."""
        return self.base_url + path_and_query.removeprefix(prefix)

    def headers(self) -> dict[str, str]:
        """What the endpoint asks of everyone."""
        return {"authorization": f"Bearer {self._api_key}"} if self._api_key else {}


def _impatient_to_connect(extensions: Mapping[str, Any]) -> dict[str, Any]:
    return {**extensions, "timeout": {**extensions.get("timeout", {}), "connect": CONNECT_S}}


class OpenAIWire(httpx2.AsyncBaseTransport):
    """Sends the SDK's requests (below `/v1`) to an OpenAI-compatible endpoint."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._inner = httpx2.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The endpoint's answer."""
        path = request.url.raw_path.decode("ascii")
        sent = httpx2.Request(
            request.method,
            self._endpoint.url(path, "/v1"),
            headers={"content-type": "application/json", **self._endpoint.headers()},
            content=await request.aread(),
            extensions=_impatient_to_connect(request.extensions),
        )
        return await self._inner.handle_async_request(sent)

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._inner.aclose()


class TavilyWire(httpx.AsyncBaseTransport):
    """Sends search requests to Tavily, or to a server that speaks its protocol."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._inner = httpx.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The server's answer."""
        path = request.url.raw_path.decode("ascii")
        sent = httpx.Request(
            request.method,
            self._endpoint.url(path, ""),
            headers={
                "content-type": "application/json",
                CASE_HEADER: case_being_recorded.get(),
                **self._endpoint.headers(),
            },
            content=await request.aread(),
            extensions=_impatient_to_connect(request.extensions),
        )
        return await self._inner.handle_async_request(sent)

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._inner.aclose()

"""The doors of both HTTP libraries through which a recording session is asked."""

import httpx
import httpx2

from evals.cassette.download import sending
from evals.cassette.player import asked, headers_of
from evals.cassette.recorder import Recorder


class RecordingTransport(httpx2.AsyncBaseTransport):
    """For httpx2 clients (OpenAI); `inner` is a live `httpx2.AsyncHTTPTransport`."""

    def __init__(self, recorder: Recorder, inner: httpx2.AsyncBaseTransport) -> None:
        self._recorder = recorder
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The recorded answer, or a live one that is recorded now."""
        ours = asked(request.method, request.url.raw_path, request.headers, await request.aread())

        send = sending(ours, lambda: self._inner.handle_async_request(request), httpx2)
        found = await self._recorder.answer(ours, send)
        return httpx2.Response(found.status, headers=headers_of(found), content=found.body)

    async def aclose(self) -> None:
        """Closes the live connections."""
        await self._recorder.apart(self._inner.aclose())


class HttpxRecordingTransport(httpx.AsyncBaseTransport):
    """For httpx clients (Tavily); `inner` is a live `httpx.AsyncHTTPTransport`."""

    def __init__(self, recorder: Recorder, inner: httpx.AsyncBaseTransport) -> None:
        self._recorder = recorder
        self._inner = inner

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The recorded answer, or a live one that is recorded now."""
        ours = asked(request.method, request.url.raw_path, request.headers, await request.aread())

        send = sending(ours, lambda: self._inner.handle_async_request(request), httpx)
        found = await self._recorder.answer(ours, send)
        return httpx.Response(found.status, headers=headers_of(found), content=found.body)

    async def aclose(self) -> None:
        """Closes the live connections."""
        await self._recorder.apart(self._inner.aclose())

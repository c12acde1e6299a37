"""The doors of both HTTP libraries through which a recording session is asked."""

from types import ModuleType
from typing import Any, ClassVar

import httpx
import httpx2

from evals.cassette.download import sending
from evals.cassette.player import asked, headers_of
from evals.cassette.recorder import Recorder


class _Door:
    """What a transport does, whichever library has it; `inner` is a live `AsyncHTTPTransport` of that library."""

    _library: ClassVar[ModuleType]

    def __init__(self, recorder: Recorder, inner: httpx.AsyncBaseTransport | httpx2.AsyncBaseTransport) -> None:
        self._recorder = recorder
        self._inner: Any = inner

    async def handle_async_request(self, request: Any) -> Any:  # noqa: ANN401 - requests and responses of two libraries
        """The recorded answer, or a live one that is recorded now."""
        ours = asked(request.method, request.url.raw_path, request.headers, await request.aread())

        send = sending(ours, lambda: self._inner.handle_async_request(request), self._library)
        found = await self._recorder.answer(ours, send)
        return self._library.Response(found.status, headers=headers_of(found), content=found.body)

    async def aclose(self) -> None:
        """Closes the live connections."""
        await self._recorder.apart(self._inner.aclose())


class RecordingTransport(_Door, httpx2.AsyncBaseTransport):
    """For httpx2 clients (OpenAI)."""

    _library: ClassVar[ModuleType] = httpx2


class HttpxRecordingTransport(_Door, httpx.AsyncBaseTransport):
    """For httpx clients (Tavily)."""

    _library: ClassVar[ModuleType] = httpx

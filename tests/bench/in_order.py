"""A transport that looks at no request: each is given the next recorded answer."""

from collections.abc import Callable

import httpx
import httpx2

from evals.cassettes.cassette_data import Interaction


class InOrder(httpx2.BaseTransport, httpx2.AsyncBaseTransport, httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Answers with what `following` gives, whatever is asked."""

    def __init__(self, following: Callable[[], Interaction]) -> None:
        self._following = following

    async def handle_async_request(self, request):
        response = httpx2.Response if isinstance(request, httpx2.Request) else httpx.Response
        return response(200, headers={"content-type": "application/json"}, content=self._following().body)

"""A real HTTP server on loopback in front of an in-memory endpoint, for whatever opens its own connections."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx2

from tests.builders.endpoint import Endpoint
from tests.builders.http_server import Handler, running


@contextmanager
def serving(endpoint: Endpoint) -> Iterator[str]:
    """The base URL (`/v1` included) under which `endpoint` answers, until the block ends."""

    class Completions(Handler):
        def do_POST(self) -> None:
            body = self.body()
            asked = httpx2.Request("POST", f"http://llm.invalid{self.path}", headers=dict(self.headers), content=body)
            answer = endpoint(asked)
            self.answer(answer.status_code, answer.content, content_type="application/json")

    with running(Completions) as server:
        yield f"{server.url}/v1"

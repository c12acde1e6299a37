"""A real HTTP server on loopback in front of an in-memory endpoint, for whatever opens its own connections."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import httpx2

from tests.builders.endpoint import Endpoint


@contextmanager
def serving(endpoint: Endpoint) -> Iterator[str]:
    """The base URL (`/v1` included) under which `endpoint` answers, until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            asked = httpx2.Request("POST", f"http://llm.invalid{self.path}", headers=dict(self.headers), content=body)
            answer = endpoint(asked)
            self.send_response(answer.status_code)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        def log_message(self, *_: object) -> None:
            """Silence: a test's output is its own."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()

"""HTTP servers of tests on loopback. They print nothing: a test may read stderr. Errors are recorded instead.

A client that hangs up is no error here, since tests kill and interrupt clients. Any other exception in a handler fails
the test at the end of the `running` block.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


class Handler(BaseHTTPRequestHandler):
    """Base of all handlers: no log lines, whole bodies."""

    def body(self) -> bytes:
        """The body of the request.

        Raises:
            ConnectionAbortedError: the client hung up before it had sent the whole request.
        """
        length = self.headers.get("content-length")
        if length is None and self.command in {"POST", "PUT", "PATCH"}:  # clients of tests always send it
            raise ConnectionAbortedError("the client hung up amid its headers")
        content = self.rfile.read(int(length or 0))
        if len(content) < int(length or 0):
            raise ConnectionAbortedError("the client hung up amid its body")
        return content

    def answer(self, status: int, content: bytes, **headers: str) -> None:
        """Send a whole answer; `content_type` becomes `content-type`."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


class QuietServer(ThreadingHTTPServer):
    """A server on any free port of 127.0.0.1 that records the exceptions of its handlers instead of printing them."""

    daemon_threads = True
    request_queue_size = 128
    """The default of 5 makes the kernel drop connections of a busy machine, which are tried again a second later."""

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        self.hung_up: list[BaseException] = []
        """Of clients that were killed, or that gave up."""
        self.failed: list[BaseException] = []
        """Of handlers: the test's own code is wrong."""
        super().__init__(("127.0.0.1", 0), handler)

    @property
    def url(self) -> str:
        """Its base URL."""
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Record the exception. The base class prints its traceback to stderr."""
        error = sys.exception()
        assert error is not None
        (self.hung_up if isinstance(error, OSError) else self.failed).append(error)


@contextmanager
def running(handler: type[BaseHTTPRequestHandler]) -> Iterator[QuietServer]:
    """The server, until the block ends.

    Raises:
        AssertionError: a handler raised something else than what a client that hangs up causes.
    """
    server = QuietServer(handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    if server.failed:
        raise AssertionError(f"the test's own server failed: {server.failed[0]!r}") from server.failed[0]

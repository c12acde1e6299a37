"""Ports of loopback that no other process can take while a test needs them."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def a_reserved_port() -> Iterator[int]:
    """A port on which nobody listens until the block ends, unless a server with SO_REUSEADDR is told to.

    The port is bound and not listened on: connections are refused, and the kernel gives it to nobody who asks for any
    free port. Linux lets another socket with SO_REUSEADDR (uvicorn's, Tornado's) bind and listen on it beside ours.
    """
    with socket.socket() as reserved:
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        reserved.bind(("127.0.0.1", 0))
        yield reserved.getsockname()[1]

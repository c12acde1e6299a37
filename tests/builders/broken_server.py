"""A server on loopback that breaks HTTP in one chosen way: it says some bytes, then does something rude."""

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Literal

Then = Literal["close", "reset", "hang"]
_RESET = struct.pack("ii", 1, 0)  # linger for no time: closing sends RST


@contextmanager
def a_broken_server(says: bytes, then: Then) -> Iterator[str]:
    """Its base URL. `says` is sent once a request has come in whole; "hang" keeps the connection open and silent."""
    over = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return  # the test is over
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    def answer(connection: socket.socket) -> None:
        with connection, suppress(OSError):  # a client that hangs up: nothing to print
            if not _read_request(connection):
                return
            connection.sendall(says)
            if then == "hang":
                over.wait()
            elif then == "reset":
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)

    accepting = threading.Thread(target=serve, daemon=True)
    accepting.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        over.set()
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)  # closing alone does not wake a thread that accepts
        listener.close()
        accepting.join()


def http(body: bytes, *, length: int | None = None, kind: str = "application/json") -> bytes:
    """A whole 200 answer that claims `length` bytes (the true number if not given)."""
    head = (
        f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {len(body) if length is None else length}\r\n\r\n"
    )
    return head.encode() + body


def _read_request(connection: socket.socket) -> bool:
    """Whether a request came in whole; if not, the client hung up."""
    text = b""
    while b"\r\n\r\n" not in text:
        if not (more := connection.recv(65536)):
            return False
        text += more
    head, _, body = text.partition(b"\r\n\r\n")
    told = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")]
    length = int(told[0].split(b":")[1]) if told else 0
    while len(body) < length:
        if not (more := connection.recv(65536)):
            return False
        body += more
    return True

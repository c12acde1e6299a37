"""The HTTP servers of the tests print nothing of a client that hangs up; a handler that raises fails the test."""

import socket
import struct
import threading
from contextlib import contextmanager
from urllib.parse import urlsplit

import httpx
import pytest

from tests.builders.broken_server import a_broken_server
from tests.builders.endpoint import a_team
from tests.builders.github import a_github
from tests.builders.http_server import Handler, running
from tests.builders.langsmith_server import a_langsmith
from tests.builders.llm_server import an_llm_server
from tests.builders.loopback import serving
from tests.builders.receiver import a_receiver
from tests.builders.waiting import until

SERVERS = {
    "loopback": lambda: serving(a_team()),
    "llm server": an_llm_server,
    "github": a_github,
    "receiver": a_receiver,
    "langsmith": a_langsmith,
    "broken server": lambda: a_broken_server(b"", "close"),
}
CUT = {
    "before its request": b"",
    "amid its headers": b"POST /v1/chat/completions HTTP/1.1\r\nauthorization: Bear",
    "amid its body": b'POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 100\r\n\r\n{"model": ',
}


def url_of(server) -> str:
    return server if isinstance(server, str) else getattr(server, "base_url", "") or server.url


def hang_up(url: str, sent: bytes, how: str) -> None:
    """Connect, send so much, and close ("politely") or reset the connection."""
    address = urlsplit(url)
    with socket.create_connection((address.hostname, address.port)) as client:
        client.sendall(sent)
        if how == "reset":
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def be_answered(url: str) -> None:
    """Connect once more and wait for the end of the answer: all connections of before have been accepted by then."""
    address = urlsplit(url)
    with socket.create_connection((address.hostname, address.port)) as client:
        client.sendall(b"BREW / HTTP/1.0\r\n\r\n")
        while client.recv(65536):
            pass


@contextmanager
def no_thread_left_over():
    """All threads that are begun in the block have ended after it."""
    before = set(threading.enumerate())
    yield
    until(lambda: set(threading.enumerate()) <= before, seconds=30)


@pytest.mark.parametrize("how", ["politely", "reset"])
@pytest.mark.parametrize("sent", CUT.values(), ids=CUT.keys())
@pytest.mark.parametrize("server", SERVERS.values(), ids=SERVERS.keys())
def test_a_client_that_hangs_up_is_printed_nowhere(server, sent, how, capfd):
    with no_thread_left_over(), server() as answering:
        for _ in range(3):
            hang_up(url_of(answering), sent, how)
        be_answered(url_of(answering))

    assert capfd.readouterr() == ("", "")


def test_a_client_that_hangs_up_is_recorded(capfd):
    gone = threading.Event()

    class Slow(Handler):
        def do_POST(self):
            self.body()
            gone.wait(60)
            for _ in range(1000):  # the first bytes may still be taken by the kernel
                self.answer(200, b"x" * 10_000)

    with running(Slow) as server:
        hang_up(server.url, b"POST / HTTP/1.1\r\ncontent-length: 0\r\n\r\n", "reset")
        gone.set()
        until(lambda: server.hung_up, seconds=30)

    assert isinstance(server.hung_up[0], ConnectionError)
    assert capfd.readouterr() == ("", "")


def test_a_handler_that_raises_fails_the_test(capfd):
    class Wrong(Handler):
        def do_GET(self):
            raise KeyError("nothing of that name")

    def ask():
        with running(Wrong) as server:
            with pytest.raises(httpx.TransportError):
                httpx.get(server.url)
            until(lambda: server.failed, seconds=30)

    with pytest.raises(AssertionError, match="nothing of that name"):
        ask()

    assert capfd.readouterr() == ("", "")

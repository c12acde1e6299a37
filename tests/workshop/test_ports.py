"""A reserved port is given to nobody and answers nobody; a server that is told to can listen on it."""

import socket
from contextlib import ExitStack

import pytest

from tests.builders.ports import a_reserved_port


def test_a_connection_is_refused():
    with a_reserved_port() as port, pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=30)


def test_a_server_that_reuses_addresses_can_listen_on_it_and_again_after_a_restart():
    with a_reserved_port() as port:
        for _ in range(2):
            with (
                socket.create_server(("127.0.0.1", port)) as server,  # with SO_REUSEADDR
                socket.create_connection(("127.0.0.1", port), timeout=30),
            ):
                server.accept()[0].close()


def test_whoever_asks_for_any_free_port_gets_another():
    """As many as are asked for, by servers and by clients."""
    with a_reserved_port() as port, ExitStack() as held:
        given = set()
        for _ in range(500):
            server = held.enter_context(socket.create_server(("127.0.0.1", 0)))
            client = held.enter_context(socket.create_connection(server.getsockname(), timeout=30))
            given |= {server.getsockname()[1], client.getsockname()[1]}

    assert port not in given

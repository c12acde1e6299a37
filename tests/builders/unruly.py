"""What an endpoint does wrong, as answers of `an_llm_server`: on the bare connection where HTTP has no word for it."""

import json
import socket
import struct
import time
from collections.abc import Collection
from http.server import BaseHTTPRequestHandler
from itertools import count
from typing import Any

from tests.builders.llm_server import Answer, Answered, answering


def refusing(status: int, code: str = "") -> Answer:
    """Every request is refused, in OpenAI's shape."""
    return lambda *_: (status, "application/json", b'{"error": {"message": "no", "code": "%s"}}' % code.encode())


def limiting(retry_after: str) -> Answer:
    """A rate limit that says how long to wait."""
    return lambda *_: (429, "application/json", b'{"error": {"message": "slow down"}}', {"retry-after": retry_after})


def first(times: int, fault: Answer) -> Answer:
    """The first so many requests meet the fault, all others are answered."""
    met = count(1)

    def answer(agent: str, body: dict[str, Any]) -> Answered:
        return fault(agent, body) if next(met) <= times else answering()(agent, body)

    return answer


def only(agents: Collection[str], fault: Answer, otherwise: Answer | None = None) -> Answer:
    """These agents meet the fault, all others are answered, as by `otherwise` where it is given."""
    sound = otherwise or answering()
    return lambda agent, body: fault(agent, body) if agent in agents else sound(agent, body)


def saying(body: object) -> Answer:
    """Every request is answered with HTTP 200 and this JSON."""
    return lambda *_: (200, "application/json", json.dumps(body).encode())


def a_web_page(*_: object) -> Answered:
    """What a portal says, or a server whose base URL lacks its /v1."""
    return 200, "text/html", b"<!doctype html>\n<title>Sign in</title>"


def hanging(*_: object) -> Answered:
    """Nothing for longer than anybody waits."""
    return _hang


def resetting(*_: object) -> Answered:
    """The connection is cut with a TCP reset."""
    return _reset


def streaming(*_: object) -> Answered:
    """Server-sent events, of which there is always one more to come."""
    return _stream


def _hang(handler: BaseHTTPRequestHandler) -> None:
    handler.connection.recv(1)  # until the client has given up


def _reset(handler: BaseHTTPRequestHandler) -> None:
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()
    handler.close_connection = True


def _stream(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("content-type", "text/event-stream")
    handler.end_headers()
    for _ in range(300):
        handler.wfile.write(b'data: {"choices": []}\n\n')
        handler.wfile.flush()
        time.sleep(0.1)

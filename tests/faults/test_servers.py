"""Servers that hang, reset, cut, lie or answer something else: each has its line, and nothing recorded is touched."""

import json

import httpx2
import pytest

from evals.cassettes.cassette_files import load
from evals.cassettes.player import Tape, playing
from evals.cassettes.recorder import RecordingTransport
from evals.errors import RecordingError
from tests.builders.broken_server import a_broken_server, http
from tests.builders.interaction import CHAT, AnLlm, a_chat_answer, a_chat_request, a_recorder, ask, words_of

pytestmark = pytest.mark.slow

ANSWER = json.dumps(a_chat_answer()).encode()
HALF = ANSWER[: len(ANSWER) // 2]
BROKEN = {
    "hangs before it answers": (b"", "hang", r"no answer for critic \(ReadTimeout\)"),
    "hangs in the middle": (http(HALF, length=len(ANSWER)), "hang", r"no answer for critic \(ReadTimeout\)"),
    "closes without a word": (b"", "close", r"no answer for critic \(RemoteProtocolError: Server disconnected"),
    "resets before it answers": (b"", "reset", r"no answer for critic \(ReadError"),
    "resets in the middle": (http(HALF, length=len(ANSWER)), "reset", r"no answer for critic \(ReadError"),
    "sends half a body": (http(HALF, length=len(ANSWER)), "close", r"RemoteProtocolError.*incomplete|complete message"),
    "claims less than it sends": (http(ANSWER, length=len(HALF)), "close", "a body that is not whole JSON"),
    "claims more than it sends": (http(ANSWER, length=len(ANSWER) + 9), "close", r"RemoteProtocolError.*complete"),
    "claims more and waits": (http(ANSWER, length=len(ANSWER) + 9), "hang", r"no answer for critic \(ReadTimeout\)"),
    "answers a web page": (
        http(b"<html>Log in", kind="text/html"),
        "close",
        "content type text/html where application",
    ),
    "answers a page as JSON": (http(b"<html>Log in"), "close", "a body that is not whole JSON"),
    "speaks no HTTP": (b"SSH-2.0-OpenSSH_9.6\r\n", "close", r"no answer for critic \(RemoteProtocolError"),
    "answers nothing": (http(b""), "close", "a body that is not whole JSON"),
}


async def asked_of(url: str, path, words: str, timeout: float = 300) -> None:  # noqa: ASYNC109 - of the client
    """Only a server that hangs may run into the time-out: a short one would hide another fault on a busy machine."""
    transport = RecordingTransport(a_recorder(), httpx2.AsyncHTTPTransport())
    async with httpx2.AsyncClient(transport=transport, base_url=url, timeout=timeout) as client:
        with playing(Tape(load(path))):
            await client.post(CHAT, json=a_chat_request(words), headers={"x-triage-agent": "critic"})


@pytest.mark.parametrize(("says", "then", "line"), BROKEN.values(), ids=BROKEN.keys())
async def test_a_server_that(tmp_path, says, then, line):
    path = tmp_path / "case.yaml"
    with playing(Tape(load(path))):
        await ask(RecordingTransport(a_recorder(), AnLlm()), "before")
    before = path.read_bytes()

    with a_broken_server(says, then) as url, pytest.raises(RecordingError, match=line) as caught:
        await asked_of(url, path, "after", timeout=0.5 if then == "hang" else 300)

    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before
    assert words_of(load(path).interactions) == ["before"]


async def test_a_server_that_is_mended_is_asked_again(tmp_path):
    path = tmp_path / "case.yaml"
    with a_broken_server(http(HALF, length=len(ANSWER)), "close") as url, pytest.raises(RecordingError):
        await asked_of(url, path, "q")

    with a_broken_server(http(ANSWER), "close") as url:
        await asked_of(url, path, "q")

    assert words_of(load(path).interactions) == ["q"]

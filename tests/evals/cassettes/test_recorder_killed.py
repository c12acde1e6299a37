"""A recorder that is killed: what anybody was told is on the tape."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from evals.cassettes.store import load
from tests.builders.http_server import Handler, running
from tests.builders.interaction import (
    a_chat_answer,
    last_words,
    record,
    words_of,
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "case.yaml"


class Loopback(Handler):
    """An LLM server on loopback, as slow as a quick model."""

    def do_POST(self):
        body = json.loads(self.body())
        threading.Event().wait(0.01)
        answer = json.dumps(a_chat_answer("Re: " + last_words(body))).encode()
        self.answer(200, answer, content_type="application/json")


RECORDING_PROCESS = textwrap.dedent("""
    import asyncio, sys
    from pathlib import Path
    import httpx2
    from evals.cassettes.player import Tape, playing
    from evals.cassettes.recorder import RecordingTransport
    from evals.cassettes.store import load
    from tests.builders.interaction import CHAT, a_chat_request, a_recorder

    async def main(url, path):
        transport = RecordingTransport(a_recorder(), httpx2.AsyncHTTPTransport())
        async with httpx2.AsyncClient(transport=transport, base_url=url) as client:
            with playing(Tape(load(path))):
                async def one(words):
                    answer = await client.post(CHAT, json=a_chat_request(words))
                    assert answer.status_code == 200
                    print(words, flush=True)
                for start in range(0, 100_000, 4):
                    await asyncio.gather(*(one(f"q{start + n}") for n in range(4)))

    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
""")


@pytest.mark.slow
@pytest.mark.parametrize("answers_before_the_kill", [1, 6, 17])
def test_a_kill_loses_nothing_that_anybody_was_told(path, answers_before_the_kill):
    """A real process, a real server, SIGKILL in the middle of the next requests; then it is resumed by another."""
    with running(Loopback) as server:
        process = subprocess.Popen(
            [sys.executable, "-c", RECORDING_PROCESS, server.url, str(path)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        )
        told = [process.stdout.readline().strip() for _ in range(answers_before_the_kill)]
        process.send_signal(signal.SIGKILL)
        told += process.stdout.read().split()
        process.wait()

    recorded = words_of(load(path).interactions)
    assert set(told) <= set(recorded)
    assert len(recorded) <= len(told) + 4  # at most those in flight were written and not yet told

    asyncio.run(record(path, "resumed"))
    assert len(load(path).interactions) == len(recorded) + 1

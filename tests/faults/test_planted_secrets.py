"""Secrets of every kind, in every place a request or an answer has: none reaches a disk, an error or an output."""

import asyncio
import json
import tempfile
import traceback
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import httpx
import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.cassettes.cassette_files import load
from evals.cassettes.player import Tape, playing
from evals.cassettes.recorder import HttpxRecordingTransport, Recorder, RecordingTransport
from evals.errors import EvalsError, RecordingError, SecretFoundError
from tests.builders.interaction import CHAT, a_chat_answer, a_chat_request, a_recorder
from tests.builders.secret import PLANTED

pytestmark = pytest.mark.slow

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
CALL = {"id": "call_1", "type": "function", "function": {"name": "f"}}


def message(**more):
    return a_chat_answer(choices=[{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **more}}])


REQUESTS = {
    "a message": lambda secret: {"body": a_chat_request(secret)},
    "a part of a message": lambda secret: {
        "body": a_chat_request() | {"messages": [{"role": "user", "content": [{"type": "text", "text": secret}]}]}
    },
    "the name of a member": lambda secret: {"body": a_chat_request(metadata={secret: 1})},
    "the description of a tool": lambda secret: {"body": a_chat_request(tools=[TOOL | {"description": secret}])},
    "the model": lambda secret: {"body": a_chat_request(model=secret)},
    "the path": lambda secret: {"path": f"/v1/{quote(secret, safe='')}/chat/completions"},
    "the query": lambda secret: {"path": f"{CHAT}?token={quote(secret)}"},
    "the agent's name": lambda secret: {"headers": {"x-triage-agent": secret}},
}
ANSWERS = {
    "an answer": a_chat_answer,
    "the arguments of a call": lambda secret: message(
        content=None, tool_calls=[{**CALL, "function": {"name": "f", "arguments": json.dumps({"text": secret})}}]
    ),
    "the name of a call": lambda secret: message(content=None, tool_calls=[{**CALL, "function": {"name": secret}}]),
    "an answer's model": lambda secret: a_chat_answer(model=secret),
    "an answer's fingerprint": lambda secret: a_chat_answer(system_fingerprint=secret),
}
DROPPED = {
    "a credential in the body": lambda secret: {"body": a_chat_request(api_key=secret)},
    "a header of the request": lambda secret: {"headers": {"authorization": secret, "x-more": secret}},
    "a header of the answer": lambda secret: {
        "answered": httpx2.Response(200, json=a_chat_answer(), headers={"x": secret})
    },
    "an extra of the server": lambda secret: {
        "answered": httpx2.Response(200, json=a_chat_answer(organization=secret))
    },
}


def refuse(error: Exception):
    raise error


FAILURES = {
    "an error's body": lambda secret: httpx2.Response(500, json={"error": f"bad {secret}"}),
    "a content type": lambda secret: httpx2.Response(200, content=b"{}", headers={"content-type": f"text/{secret}"}),
    "half an answer": lambda secret: httpx2.Response(
        200, content=f'{{"choices": "{secret}'.encode(), headers={"content-type": "application/json"}
    ),
    "a header the library quotes": lambda secret: refuse(httpx2.LocalProtocolError(f"Illegal header {secret!r}")),
}

kinds = st.sampled_from(sorted(PLANTED))
padding = st.text(alphabet=" \n\t.,;", max_size=3)


class Place(tempfile.TemporaryDirectory):
    """A folder to record in, and the means to look for a secret in all of it."""

    def record(self, *, body=None, path=CHAT, headers=None, answered=None, **more) -> Recorder:
        """One request through the recorder and its transport; an error is raised."""
        inner = httpx2.MockTransport(lambda _: answered() if callable(answered) else answered)
        recorder = a_recorder(**more)
        request = httpx2.Request(
            "POST", f"http://127.0.0.1:9{path}", json=body or a_chat_request(), headers=headers or {}
        )

        async def send():
            with playing(Tape(load(self.cassette))):
                await RecordingTransport(recorder, inner).handle_async_request(request)

        asyncio.run(send())
        return recorder

    @property
    def cassette(self) -> Path:
        return Path(self.name) / "case.yaml"

    def holds(self, secret: str) -> bool:
        """Whether any byte of any file, or of its name, is the secret's, plain or as JSON spells it."""
        spellings = {secret, json.dumps(secret)[1:-1], quote(secret), quote(secret, safe="")}
        files = [path for path in Path(self.name).rglob("*") if path.is_file()]
        written = [path.name.encode() + b"\n" + path.read_bytes() for path in files]
        return any(spelling.encode() in content for spelling in spellings for content in written)


def told(error: BaseException) -> str:
    """All that anybody is told of an error: its line, its traceback, its causes."""
    return "".join(traceback.format_exception(error)) + str(error)


@settings(max_examples=150, deadline=None)
@given(kinds, st.sampled_from(sorted(REQUESTS)), padding)
def test_a_secret_in_a_request_is_refused_before_it_is_sent(kind, place, around):
    secret = PLANTED[kind]
    text = secret if place == "the agent's name" else around + secret + around
    sent = []
    here = Place()

    with pytest.raises(SecretFoundError) as caught:
        here.record(**REQUESTS[place](text), answered=lambda: sent.append(1))

    assert sent == []
    assert secret not in told(caught.value)
    assert not here.holds(secret)
    here.cleanup()


@settings(max_examples=120, deadline=None)
@given(kinds, st.sampled_from(sorted(ANSWERS)), padding)
def test_a_secret_in_an_answer_is_refused(kind, place, around):
    secret = PLANTED[kind]
    here = Place()

    with pytest.raises(SecretFoundError) as caught:
        here.record(answered=httpx2.Response(200, json=ANSWERS[place](around + secret + around)))

    assert secret not in told(caught.value)
    assert not here.holds(secret)
    here.cleanup()


@settings(max_examples=60, deadline=None)
@given(kinds, st.sampled_from(sorted(DROPPED)))
def test_a_secret_that_belongs_there_is_left_out_of_what_is_recorded(kind, place):
    secret = PLANTED[kind]
    here = Place()
    given_ = {"answered": httpx2.Response(200, json=a_chat_answer()), **DROPPED[place](secret)}

    here.record(**given_)

    assert len(load(here.cassette).interactions) == 1
    assert not here.holds(secret)
    here.cleanup()


@settings(max_examples=60, deadline=None)
@given(kinds, st.sampled_from(sorted(FAILURES)))
def test_a_secret_in_a_failure_is_withheld(kind, place):
    secret = PLANTED[kind]
    here = Place()

    with pytest.raises(RecordingError) as caught:
        here.record(answered=lambda: FAILURES[place](secret))

    assert secret not in told(caught.value)
    assert not here.holds(secret)
    here.cleanup()


@settings(max_examples=60, deadline=None)
@given(kinds, st.booleans())
def test_a_secret_in_a_search_is_refused_through_the_other_library(kind, asked):
    secret = PLANTED[kind]
    here = Place()
    found = {"query": "q", "results": [{"url": "http://a.invalid", "content": "x" if asked else secret}]}
    transport = HttpxRecordingTransport(a_recorder(), httpx.MockTransport(lambda _: httpx.Response(200, json=found)))

    async def search():
        with playing(Tape(load(here.cassette))):
            async with httpx.AsyncClient(transport=transport) as client:
                await client.post("http://127.0.0.1:9/search", json={"query": secret if asked else "q"})

    with pytest.raises(SecretFoundError) as caught:
        asyncio.run(search())

    assert secret not in told(caught.value)
    assert not here.holds(secret)
    here.cleanup()


@settings(max_examples=60, deadline=None)
@given(kinds)
def test_a_secret_that_names_the_recorder_is_refused(kind):
    here = Place()
    with suppress(EvalsError):
        here.record(answered=httpx2.Response(200, json=a_chat_answer()), recorded_by=PLANTED[kind])

    assert not here.cassette.exists()
    here.cleanup()

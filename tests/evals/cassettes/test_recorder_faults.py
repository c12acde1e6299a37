"""What goes wrong while a tape is made: the endpoint, the answer, the budget, the disk."""

import contextlib
import json

import httpx2
import pytest

from evals.cassettes.cassette_files import load
from evals.cassettes.player import Tape, playing
from evals.cassettes.recorder import RecordingTransport
from evals.errors import CassetteError, RecordingError, RecordingStoppedError
from tests.builders.interaction import (
    AnLlm,
    a_chat_answer,
    a_recorder,
    ask,
    last_words,
    record,
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "case.yaml"


UNUSABLE = {
    "failure": (lambda: httpx2.Response(500, json={"error": "boom"}), "status 500"),
    "rate limit": (lambda: httpx2.Response(429, json={"error": "slow down"}), "status 429"),
    "redirect": (lambda: httpx2.Response(302, headers={"location": "/login"}), "status 302"),
    "login page": (lambda: httpx2.Response(200, html="<html>Log in"), "content type text/html"),
    "stream": (
        lambda: httpx2.Response(200, content=b"data: {}", headers={"content-type": "text/event-stream"}),
        "content type text/event-stream",
    ),
    "no type": (lambda: httpx2.Response(200, content=b"{}"), "content type missing"),
    "half a body": (
        lambda: httpx2.Response(
            200, content=json.dumps(a_chat_answer())[:80].encode(), headers={"content-type": "application/json"}
        ),
        "not whole JSON",
    ),
    "a list": (lambda: httpx2.Response(200, json=[]), "another shape"),
    "an error in disguise": (lambda: httpx2.Response(200, json={"error": {"message": "quota"}}), "another shape"),
    "no choice": (lambda: httpx2.Response(200, json=a_chat_answer(choices=[])), "another shape"),
    "unfinished": (
        lambda: httpx2.Response(
            200, json=a_chat_answer(choices=[{"message": {"content": "x"}, "finish_reason": None}])
        ),
        "another shape",
    ),
}


@pytest.mark.parametrize("kind", UNUSABLE)
async def test_an_unusable_answer_is_an_error_and_leaves_no_file(path, kind):
    reply, cause = UNUSABLE[kind]
    transport = RecordingTransport(a_recorder(), AnLlm(lambda _: reply()))

    with playing(Tape(load(path))) as tape, pytest.raises(RecordingError, match=cause):
        await ask(transport, "q")

    assert not path.exists()
    assert tape.ledger.served == []
    assert len(tape.ledger.failures) == 1


async def test_one_trial_is_not_told_of_anothers_failure(path):
    """They run side by side: a failure must end the trial that met it, and no other."""
    llm = AnLlm(lambda body: httpx2.Response(500 if last_words(body) == "bad" else 200, json=a_chat_answer()))
    transport = RecordingTransport(a_recorder(), llm)
    with playing(Tape(load(path))) as good:
        await ask(transport, "fine")
    with playing(Tape(load(path))) as bad, pytest.raises(RecordingError):
        await ask(transport, "bad")

    assert (len(good.ledger.failures), len(bad.ledger.failures)) == (0, 1)


async def test_after_a_stop_nothing_is_asked_but_the_tape_still_plays(path):
    await record(path, "known")
    recorder, llm = a_recorder(), AnLlm()
    recorder.stop.set(RecordingStoppedError("enough"))
    transport = RecordingTransport(recorder, llm)

    with playing(Tape(load(path))):
        assert await ask(transport, "known") == "Re: known"
        with pytest.raises(RecordingStoppedError, match="enough"):
            await ask(transport, "new")
    assert llm.heard == []


async def test_failures_in_a_row_stop_the_recording_and_an_answer_between_them_does_not(path):
    recorder = a_recorder()
    replies = iter([500, 500, 500, 500, 200, 500, 500, 500, 500, 500])
    llm = AnLlm(lambda _: httpx2.Response(next(replies), json=a_chat_answer()))
    stopped = []
    with playing(Tape(load(path))):
        for n in range(10):
            with contextlib.suppress(RecordingError):
                await ask(RecordingTransport(recorder, llm), f"q{n}")
            stopped.append(recorder.stop.reason is not None)

    assert stopped == [False] * 9 + [True]


async def test_the_time_of_a_try_that_failed_says_nothing_about_the_model(path):
    """`latency_ms` is of the answer that was kept: each look at the stopwatch is 10 ms later than the last."""

    async def twice(send):
        await send()
        return await send()

    await record(path, "q", persist=twice)

    assert load(path).interactions[0].latency_ms == 10.0


async def test_a_streaming_request_is_refused_before_it_costs_anything(path):
    llm = AnLlm()
    with playing(Tape(load(path))), pytest.raises(RecordingError, match="disable_streaming=True"):
        await ask(RecordingTransport(a_recorder(), llm), "q", stream=True)

    assert llm.heard == []


async def test_a_spent_budget_refuses_before_it_costs_anything(path):
    def refuse(_):
        raise RecordingError("the budget of 1 USD is spent")

    llm = AnLlm()
    with playing(Tape(load(path))), pytest.raises(RecordingError, match="budget"):
        await ask(RecordingTransport(a_recorder(admit=refuse), llm), "q")

    assert llm.heard == []


async def test_a_corrupt_file_stops_the_recording(path):
    tape = Tape(load(path))
    path.write_text("half a fi")

    with playing(tape), pytest.raises(CassetteError):
        await ask(RecordingTransport(a_recorder(), AnLlm()), "q")

    assert path.read_text() == "half a fi"


async def test_what_prevents_keeping_an_answer_ends_the_recording(path, monkeypatch):
    """Whatever it is: the next answer would be paid for and lost as well."""

    def stumble(*_args, **_more):
        raise UnicodeEncodeError("utf-8", "x", 0, 1, "surrogates not allowed")

    monkeypatch.setattr("evals.cassettes.recorder.merge_write", stumble)
    llm, recorder = AnLlm(), a_recorder()
    transport = RecordingTransport(recorder, llm)
    with playing(Tape(load(path))):
        for words in ("a", "b"):
            with contextlib.suppress(RecordingStoppedError):
                await ask(transport, words)

    assert (llm.heard, "cannot be kept" in str(recorder.stop.reason)) == (["a"], True)

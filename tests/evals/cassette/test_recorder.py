"""Recording asks once, keeps only usable answers, and has everything on disk that anybody was told."""

import asyncio
import contextlib
import http.server
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import httpx
import httpx2
import pytest

from evals.cassette.entry import Usage
from evals.cassette.player import ReplayTransport, Tape, playing
from evals.cassette.recorder import HttpxRecordingTransport, RecordingTransport
from evals.cassette.store import Cassette, load
from evals.errors import CassetteError, MissError, RecordingError, RecordingStoppedError, SecretFoundError
from tests.builders.interaction import (
    PLANTED,
    AnLlm,
    a_chat_answer,
    a_chat_request,
    a_recorder,
    ask,
    last_words,
    words_of,
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "case.yaml"


async def record(path: Path, *questions: str, llm: AnLlm | None = None, **more) -> AnLlm:
    """One trial that asks its questions one after the other."""
    llm = llm or AnLlm()
    transport = RecordingTransport(a_recorder(**more), llm)
    with playing(Tape(load(path))):
        for words in questions:
            await ask(transport, words)
    return llm


async def test_what_was_recorded_is_replayed(path):
    await record(path, "a", "b")

    with playing(Tape(load(path))):
        assert await ask(ReplayTransport(), "b") == "Re: b"


async def test_what_is_known_is_not_asked_again(path):
    await record(path, "a")

    llm = await record(path, "a", "b")

    assert llm.heard == ["b"]


async def test_a_recording_run_hears_the_very_bytes_of_its_replay(path):
    """Server extras are dropped before the caller sees them, and the escapes are those of the file."""
    llm = AnLlm(lambda body: httpx2.Response(200, json=a_chat_answer("😀", timings={"ms": 1})))
    transport = RecordingTransport(a_recorder(), llm)
    request = httpx2.Request("POST", "http://127.0.0.1:9/v1/chat/completions", json=a_chat_request())
    with playing(Tape(load(path))):
        live = (await transport.handle_async_request(request)).content

    with playing(Tape(load(path))):
        assert (await ReplayTransport().handle_async_request(request)).content == live


async def test_an_interaction_knows_where_it_comes_from(path):
    await record(path, "a")

    recorded = load(path).interactions[0]

    assert (recorded.agent, recorded.model, recorded.recorded_by) == ("critic", "small-0.5b", "test")
    assert recorded.recorded_at == "2026-11-21T12:00:00+00:00"
    assert recorded.latency_ms == 10.0
    assert (recorded.usage.prompt_tokens, recorded.usage.completion_tokens) == (11, 5)


async def test_equal_requests_at_the_same_time_are_asked_once(path):
    llm = AnLlm()
    transport = RecordingTransport(a_recorder(), llm)

    async def trial() -> str:
        with playing(Tape(load(path))):
            return await ask(transport, "same")

    heard = await asyncio.gather(*(trial() for _ in range(20)))

    assert (set(heard), llm.heard) == ({"Re: same"}, ["same"])


async def test_a_trial_hears_what_another_trial_of_its_case_recorded_meanwhile(path):
    llm = AnLlm()
    transport = RecordingTransport(a_recorder(), llm)
    early, late = Tape(load(path)), Tape(load(path))
    with playing(early):
        await ask(transport, "a")

    with playing(late):
        await ask(transport, "a")

    assert llm.heard == ["a"]
    assert words_of(late.ledger.served) == ["a"]


async def test_a_caller_that_gives_up_leaves_its_answer_on_disk(path):
    gate = asyncio.Event()

    class Slow(AnLlm):
        async def handle_async_request(self, request):
            await gate.wait()
            return await super().handle_async_request(request)

    recorder = a_recorder()
    transport = RecordingTransport(recorder, Slow())
    with playing(Tape(load(path))):
        impatient = asyncio.create_task(ask(transport, "a"))
        patient = asyncio.create_task(ask(transport, "a"))
        await asyncio.sleep(0.01)
        impatient.cancel()
        gate.set()
        answer = await patient

    assert answer == "Re: a"
    assert words_of(load(path).interactions) == ["a"]


async def test_no_more_requests_are_in_flight_than_there_are_slots(path):
    in_flight, most = 0, 0

    class Counting(AnLlm):
        async def handle_async_request(self, request):
            nonlocal in_flight, most
            in_flight += 1
            most = max(most, in_flight)
            answer = await super().handle_async_request(request)
            in_flight -= 1
            return answer

    transport = RecordingTransport(a_recorder(slots=asyncio.Semaphore(2)), Counting())
    with playing(Tape(load(path))):
        await asyncio.gather(*(ask(transport, f"q{n}") for n in range(10)))

    assert most == 2


async def test_recording_side_by_side_gives_the_bytes_of_recording_in_turn(tmp_path):
    """With the clocks stopped nothing of the order is left."""
    stopped = {"stopwatch": lambda: 0.0}
    questions = [f"q{n}" for n in range(12)]
    await record(tmp_path / "serial.yaml", *questions, **stopped)
    transport = RecordingTransport(a_recorder(**stopped), AnLlm())
    with playing(Tape(load(tmp_path / "concurrent.yaml"))):
        await asyncio.gather(*(ask(transport, words) for words in reversed(questions)))

    assert (tmp_path / "concurrent.yaml").read_bytes() == (tmp_path / "serial.yaml").read_bytes()


async def test_two_recorders_on_one_file_keep_each_others_answers(path):
    """Neither knows of the other: two processes, in effect."""
    await asyncio.gather(
        record(path, *(f"left {n}" for n in range(8))), record(path, *(f"right {n}" for n in range(8)))
    )

    assert len(load(path).interactions) == 16


async def test_the_second_of_two_recorders_hears_what_the_first_wrote(path):
    """Both asked at once, and the model did not say the same twice: the replay will hear the first answer."""
    told = []
    for take in ("first", "second"):
        llm = AnLlm(lambda _, take=take: httpx2.Response(200, json=a_chat_answer(take)))
        with playing(Tape(Cassette(path))):  # neither has seen the other's file
            told.append(await ask(RecordingTransport(a_recorder(), llm), "q"))

    assert told == ["first", "first"]


async def test_nonsense_counts_of_tokens_are_no_counts(path):
    llm = AnLlm(
        lambda _: httpx2.Response(200, json=a_chat_answer(usage={"prompt_tokens": -1, "completion_tokens": "9"}))
    )
    await record(path, "q", llm=llm)

    assert load(path).interactions[0].usage == Usage()


async def test_a_write_that_reports_late_hides_no_later_answer(path, monkeypatch):
    """Threads finish in any order: here the first write reports last, with less in its hands. Three trials."""
    second_is_done = asyncio.Event()

    async def in_a_slow_thread(write, where, interactions):
        written = write(where, interactions)
        if words_of(interactions) == ["first"]:
            await second_is_done.wait()
        return written

    monkeypatch.setattr(asyncio, "to_thread", in_a_slow_thread)
    llm = AnLlm()
    transport = RecordingTransport(a_recorder(), llm)
    with playing(Tape(Cassette(path))):
        first = asyncio.create_task(ask(transport, "first"))
    await asyncio.sleep(0.05)
    with playing(Tape(Cassette(path))):
        await ask(transport, "second")
    second_is_done.set()
    await first
    with playing(Tape(Cassette(path))):
        await ask(transport, "second")

    assert llm.heard == ["first", "second"]


async def test_every_sample_is_asked_for_itself(path):
    llm = AnLlm()
    transport = RecordingTransport(a_recorder(), llm)
    for sample in range(3):
        with playing(Tape(load(path), sample=sample, samples=3)):
            await ask(transport, "q")

    assert [interaction.sample for interaction in load(path).interactions] == [0, 1, 2]


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


async def test_an_endpoint_that_is_down_is_a_recording_error(path):
    def refuse(_):
        raise httpx2.ConnectError("connection refused")

    transport = RecordingTransport(a_recorder(), AnLlm(refuse))
    with playing(Tape(load(path))), pytest.raises(RecordingError, match=r"ConnectError.*see that the endpoint is up"):
        await ask(transport, "q")


async def test_a_request_that_failed_can_be_asked_again(path):
    replies = iter([httpx2.Response(503, json={}), httpx2.Response(200, json=a_chat_answer("at last"))])
    transport = RecordingTransport(a_recorder(), AnLlm(lambda _: next(replies)))
    with playing(Tape(load(path))):
        with pytest.raises(RecordingError):
            await ask(transport, "q")

        assert await ask(transport, "q") == "at last"


async def test_a_key_echoed_in_an_error_is_withheld(path):
    transport = RecordingTransport(
        a_recorder(), AnLlm(lambda _: httpx2.Response(401, json={"error": f"bad key {PLANTED['openai_key']}"}))
    )
    with playing(Tape(load(path))), pytest.raises(RecordingError) as caught:
        await ask(transport, "q")

    assert PLANTED["openai_key"] not in str(caught.value)


async def test_a_secret_in_an_answer_stops_the_write_and_is_heard_by_the_trial(path):
    llm = AnLlm(lambda _: httpx2.Response(200, json=a_chat_answer(PLANTED["jwt"])))
    with playing(Tape(load(path))) as tape, pytest.raises(SecretFoundError):
        await ask(RecordingTransport(a_recorder(), llm), "q")

    assert not path.exists()
    assert isinstance(tape.ledger.failures[0], SecretFoundError)


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


async def test_a_repeated_request_is_recorded_as_another_sample(path):
    """Trial 1 of two hears answer 1 first, then answer 0: (trial + occurrence) modulo k."""
    llm = AnLlm()
    transport = RecordingTransport(a_recorder(), llm)
    with playing(Tape(load(path), sample=1, samples=2)) as tape:
        for _ in range(3):
            await ask(transport, "q")

    assert [found.sample for found in tape.ledger.served] == [1, 0, 1]
    assert len(llm.heard) == 2


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


async def test_progress_is_told_once_per_new_answer(path):
    told = []
    await record(path, "a", "a", "b", recorded=told.append)

    assert words_of(told) == ["a", "b"]


async def test_without_a_tape_nothing_is_asked(path):
    llm = AnLlm()
    with pytest.raises(MissError):
        await ask(RecordingTransport(a_recorder(), llm), "q")

    assert llm.heard == []


async def test_a_corrupt_file_stops_the_recording(path):
    tape = Tape(load(path))
    path.write_text("half a fi")

    with playing(tape), pytest.raises(CassetteError):
        await ask(RecordingTransport(a_recorder(), AnLlm()), "q")

    assert path.read_text() == "half a fi"


async def test_a_search_is_recorded_through_the_other_library(path):
    found = {"query": "q", "results": [{"url": "http://a.invalid", "content": "x"}], "request_id": "r-1"}
    transport = HttpxRecordingTransport(a_recorder(), httpx.MockTransport(lambda _: httpx.Response(200, json=found)))
    with playing(Tape(load(path))):
        async with httpx.AsyncClient(transport=transport) as client:
            answer = await client.post("http://127.0.0.1:9/search", json={"query": "q"})

    recorded = load(path).interactions[0]
    assert (recorded.agent, recorded.uri, recorded.model) == ("web_search", "/search", "")
    assert answer.json() == recorded.response == {"query": "q", "results": found["results"]}


class Loopback(http.server.BaseHTTPRequestHandler):
    """An LLM server on loopback, as slow as a quick model."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        threading.Event().wait(0.01)
        answer = json.dumps(a_chat_answer("Re: " + last_words(body))).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


RECORDING_PROCESS = textwrap.dedent("""
    import asyncio, sys
    from pathlib import Path
    import httpx2
    from evals.cassette.player import Tape, playing
    from evals.cassette.recorder import RecordingTransport
    from evals.cassette.store import load
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
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Loopback)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}"
    process = subprocess.Popen(
        [sys.executable, "-c", RECORDING_PROCESS, url, str(path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
    )
    told = [process.stdout.readline().strip() for _ in range(answers_before_the_kill)]
    process.send_signal(signal.SIGKILL)
    told += process.stdout.read().split()
    process.wait()
    server.shutdown()

    recorded = words_of(load(path).interactions)
    assert set(told) <= set(recorded)
    assert len(recorded) <= len(told) + 4  # at most those in flight were written and not yet told

    asyncio.run(record(path, "resumed"))
    assert len(load(path).interactions) == len(recorded) + 1


async def test_what_prevents_keeping_an_answer_ends_the_recording(path, monkeypatch):
    """Whatever it is: the next answer would be paid for and lost as well."""

    def stumble(*_args, **_more):
        raise UnicodeEncodeError("utf-8", "x", 0, 1, "surrogates not allowed")

    monkeypatch.setattr("evals.cassette.recorder.merge_write", stumble)
    llm, recorder = AnLlm(), a_recorder()
    transport = RecordingTransport(recorder, llm)
    with playing(Tape(load(path))):
        for words in ("a", "b"):
            with contextlib.suppress(RecordingStoppedError):
                await ask(transport, words)

    assert (llm.heard, "cannot be kept" in str(recorder.stop.reason)) == (["a"], True)

"""Recording asks once, keeps only usable answers, and has everything on disk that anybody was told."""

import asyncio

import httpx
import httpx2
import pytest

from evals.cassettes import recorder
from evals.cassettes.cassette_data import Cassette
from evals.cassettes.cassette_files import load, merge_write
from evals.cassettes.cassette_schema import Usage
from evals.cassettes.player import ReplayTransport, Tape, playing
from evals.cassettes.recorder import HttpxRecordingTransport, RecordingTransport, take_staged
from evals.errors import CassetteError, MissError, RecordingError, RecordingStoppedError
from tests.builders.interaction import (
    AnLlm,
    a_chat_answer,
    a_chat_request,
    a_recorder,
    an_interaction,
    ask,
    last_words,
    record,
    words_of,
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "case.yaml"


async def test_what_was_recorded_is_replayed(path):
    await record(path, "a", "b")

    with playing(Tape(load(path))):
        assert await ask(ReplayTransport(), "b") == "Re: b"


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
    asked, gate = asyncio.Event(), asyncio.Event()

    class Slow(AnLlm):
        async def handle_async_request(self, request):
            asked.set()
            await gate.wait()
            return await super().handle_async_request(request)

    recorder = a_recorder()
    transport = RecordingTransport(recorder, Slow())
    with playing(Tape(load(path))):
        impatient = asyncio.create_task(ask(transport, "a"))
        patient = asyncio.create_task(ask(transport, "a"))
        await asked.wait()
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


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        ({"model": "m" * 201}, "model of 201 characters, where 200 is the limit"),
        ({"id": "i" * 501}, "id of 501 characters, where 500 is the limit"),
        ({"system_fingerprint": "f" * 501}, "system_fingerprint of 501 characters"),
        ({"usage": {"prompt_tokens": -1}}, "usage.prompt_tokens that is no whole number from 0 to 10,000,000"),
        ({"usage": {"completion_tokens": "9"}}, "usage.completion_tokens that is no whole number"),
        ({"usage": {"completion_tokens": 1.5}}, "usage.completion_tokens that is no whole number"),
        ({"usage": {"prompt_tokens": True}}, "usage.prompt_tokens that is no whole number"),
        ({"usage": {"total_tokens": 10**30}}, "usage.total_tokens that is no whole number"),
    ],
)
async def test_an_answer_that_says_of_itself_what_cannot_be_is_refused_and_the_next_is_kept(path, said, cause):
    with pytest.raises(RecordingError) as refusal:
        await record(path, "q", llm=AnLlm(lambda _: httpx2.Response(200, json=a_chat_answer(**said))))
    await record(path, "another")

    assert cause in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert not isinstance(refusal.value, RecordingStoppedError)
    assert len(load(path).interactions) == 1


async def test_what_stands_at_the_limits_is_kept(path):
    usage = {"prompt_tokens": 10_000_000, "completion_tokens": None}
    answer = a_chat_answer(model="m" * 200, id="i" * 500, usage=usage)
    await record(path, "q", llm=AnLlm(lambda _: httpx2.Response(200, json=answer)))

    assert load(path).interactions[0].usage == Usage(prompt_tokens=10_000_000)


async def test_an_answer_that_would_make_a_cassette_too_large_costs_itself_alone(path, monkeypatch):
    for module in ("recorder", "cassette_schema"):
        monkeypatch.setattr(f"evals.cassettes.{module}.MAX_ANSWERS", 2_000)
    llm = AnLlm(lambda body: httpx2.Response(200, json=a_chat_answer("x" * len(last_words(body)))))
    await record(path, "q" * 1_000, llm=llm)
    with pytest.raises(RecordingError, match=r"would bring the answers in case\.yaml to 2,\d+ bytes, where 2,000 is"):
        await record(path, "r" * 1_000, llm=llm)
    await record(path, "short", llm=llm)

    assert len(load(path).interactions) == 2


def test_no_writer_makes_a_cassette_that_cannot_be_read_again(path, monkeypatch):
    monkeypatch.setattr("evals.cassettes.cassette_schema.MAX_ANSWERS", 1_000)
    merge_write(path, [an_interaction("one")])
    with pytest.raises(CassetteError, match="which is not kept: record shorter ones"):
        merge_write(path, [an_interaction("other", answer="x" * 1_000)])

    assert len(load(path).interactions) == 1


@pytest.fixture
def slowly_written(monkeypatch):
    """The words of each writing, in order; the first of them takes until there is no more to come."""
    written, all_are_there = [], asyncio.Event()

    async def in_a_slow_thread(write, where, interactions):
        written.append(sorted(words_of(interactions)))
        if len(written) == 1:
            await all_are_there.wait()
        return write(where, interactions)

    monkeypatch.setattr(asyncio, "to_thread", in_a_slow_thread)
    return written, all_are_there


async def side_by_side(transport, path, all_are_there, *words):
    """Each asked by a trial of its own, the second when the first is being written; what became of each."""
    asking = []
    for word in words:
        with playing(Tape(Cassette(path))):
            asking.append(asyncio.create_task(ask(transport, word)))
        for _ in range(1000):  # rounds of the loop, in which all of this happens: no clock has a part in it
            await asyncio.sleep(0)
    all_are_there.set()
    return await asyncio.gather(*asking, return_exceptions=True)


async def test_what_comes_in_while_a_cassette_is_written_is_written_together(path, slowly_written):
    written, all_are_there = slowly_written
    llm = AnLlm()
    transport = RecordingTransport(a_recorder(slots=asyncio.Semaphore(4)), llm)

    await side_by_side(transport, path, all_are_there, "first", "second", "third")
    with playing(Tape(Cassette(path))):
        await ask(transport, "third")

    assert written == [["first"], ["second", "third"]]
    assert llm.heard == ["first", "second", "third"]
    assert set(words_of(load(path).interactions)) == {"first", "second", "third"}
    assert list(path.parent.glob("*.arrived")) == []


async def test_a_writing_that_fails_costs_no_answer_that_waits_beside_it(path, slowly_written, monkeypatch):
    """The first writing fails; the others find themselves in the second, and what failed is there for the next run."""
    written, all_are_there = slowly_written
    real = recorder.merge_write

    def first_fails(*given, **more):
        return real(*given, **more) if len(written) > 1 else 1 / 0

    monkeypatch.setattr(recorder, "merge_write", first_fails)
    transport = RecordingTransport(a_recorder(slots=asyncio.Semaphore(4)), AnLlm())

    first, *_ = await side_by_side(transport, path, all_are_there, "first", "second", "third")

    assert isinstance(first, RecordingStoppedError)
    assert set(words_of(load(path).interactions)) == {"second", "third"}
    take_staged(path)
    assert set(words_of(load(path).interactions)) == {"first", "second", "third"}


async def test_a_repeated_request_is_recorded_as_another_sample(path):
    """Trial 1 of two hears answer 1 first, then answer 0: (trial + occurrence) modulo k."""
    llm = AnLlm()
    transport = RecordingTransport(a_recorder(), llm)
    with playing(Tape(load(path), sample=1, samples=2)) as tape:
        for _ in range(3):
            await ask(transport, "q")

    assert [found.sample for found in tape.ledger.served] == [1, 0, 1]
    assert len(llm.heard) == 2


async def test_without_a_tape_nothing_is_asked(path):
    llm = AnLlm()
    with pytest.raises(MissError):
        await ask(RecordingTransport(a_recorder(), llm), "q")

    assert llm.heard == []


async def test_a_search_is_recorded_through_the_other_library(path):
    found = {"query": "q", "results": [{"url": "http://a.invalid", "content": "x"}], "request_id": "r-1"}
    transport = HttpxRecordingTransport(a_recorder(), httpx.MockTransport(lambda _: httpx.Response(200, json=found)))
    with playing(Tape(load(path))):
        async with httpx.AsyncClient(transport=transport) as client:
            answer = await client.post("http://127.0.0.1:9/search", json={"query": "q"})

    recorded = load(path).interactions[0]
    assert (recorded.agent, recorded.uri, recorded.model) == ("web_search", "/search", "")
    assert answer.json() == recorded.response == {"query": "q", "results": found["results"]}

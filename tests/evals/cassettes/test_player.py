"""Replay: every trial hears its own tape, and a miss is heard by the ledger whoever swallows it."""

import asyncio
import json
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import httpx2
import pytest
from langchain_openai import ChatOpenAI
from openai import AsyncOpenAI
from tavily import AsyncTavilyClient

from evals.cassettes.calls_and_misses import Ledger
from evals.cassettes.cassette_data import Interaction
from evals.cassettes.player import HttpxReplayTransport, ReplayTransport, Tape, current_tape, playing
from evals.cassettes.player import heard as heard_ahead
from evals.cassettes.request_key import request_key
from evals.errors import MissError
from tests.builders.interaction import CHAT, a_chat_request, a_tape, an_interaction, ask, words_of


def a_model(agent: str = "critic", transport: ReplayTransport | None = None) -> ChatOpenAI:
    """The model as the system under test builds it, both clients on replay."""
    transport = transport or ReplayTransport()
    return ChatOpenAI(
        model="small",
        temperature=0,
        base_url="http://127.0.0.1:9/v1",
        api_key="none",
        max_retries=0,
        disable_streaming=True,
        default_headers={"x-triage-agent": agent},
        http_client=httpx2.Client(transport=transport),
        http_async_client=httpx2.AsyncClient(transport=transport),
    )


class Notebook(ReplayTransport):
    """Writes down what the SDK really sends, so that the test can record it."""

    def __init__(self) -> None:
        self.bodies: list[dict] = []

    def handle_request(self, request):
        self.bodies.append(json.loads(request.read()))
        raise MissError("only listening")


def sent_by(chain_of) -> dict:
    """The body the real SDK sends for a chain made by `chain_of(model)`."""
    notebook = Notebook()
    with pytest.raises(MissError):
        chain_of(a_model(transport=notebook)).invoke("Where is the fault?")
    return notebook.bodies[0]


@pytest.fixture
def no_sockets(monkeypatch):
    """Any attempt to connect is a failure; an event loop made before needs none."""

    def refuse(*_):
        pytest.fail("a replay connected")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


async def test_the_real_sdk_is_answered_without_a_socket_sync_and_async(no_sockets):
    request = sent_by(lambda model: model)
    recorded = an_interaction(request=request, answer="In line 7.")

    with playing(a_tape(recorded)):
        assert a_model().invoke("Where is the fault?").content == "In line 7."
        assert (await a_model().ainvoke("Where is the fault?")).content == "In line 7."


async def test_the_real_search_client_is_answered_too(no_sockets):
    heard = []

    def listen(request):
        heard.append(json.loads(request.read()))
        raise MissError("only listening")

    async def search(transport):
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:9") as client:
            return await AsyncTavilyClient(api_key="none", client=client).search("parcel rounding")

    with pytest.raises(MissError):
        await search(httpx.MockTransport(listen))
    key = request_key("POST", "/search", json.dumps(heard[0]).encode())
    answer = {"query": "parcel rounding", "results": [{"url": "http://a.invalid", "content": "half even"}]}
    recorded = an_interaction(agent="web_search", key=key, uri="/search", request=heard[0], response=answer)

    with playing(a_tape(recorded)) as tape:
        found = await search(HttpxReplayTransport())

    assert found["results"] == answer["results"]
    assert tape.ledger.served == [recorded]


async def test_what_was_served_is_in_the_ledger_in_order():
    with playing(a_tape(an_interaction("a"), an_interaction("b"))) as tape:
        for words in ("b", "a", "b"):
            await ask(ReplayTransport(), words)

    assert words_of(tape.ledger.served) == ["b", "a", "b"]


async def test_a_miss_is_a_lookup_error_and_an_entry():
    with playing(a_tape(an_interaction("known"))) as tape:
        await ask(ReplayTransport(), "known")
        with pytest.raises(LookupError, match=r"not recorded: writer \(small\) asked POST .*: unknown"):
            await ask(ReplayTransport(), "unknown", agent="writer")

    miss = tape.ledger.misses[0]
    assert (miss.agent, miss.method, miss.path, miss.model) == ("writer", "POST", CHAT, "small")
    assert json.loads(miss.body) == a_chat_request("unknown")
    assert miss.served_before == 1


async def test_the_sdk_lets_a_miss_through_and_asks_once():
    with playing(a_tape()) as tape, pytest.raises(MissError):
        await AsyncOpenAI(
            api_key="none",
            base_url="http://127.0.0.1:9/v1",
            http_client=httpx2.AsyncClient(transport=ReplayTransport()),
        ).chat.completions.create(model="small", messages=[{"role": "user", "content": "unknown"}])

    assert len(tape.ledger.misses) == 1


async def test_a_swallowed_miss_is_still_in_the_ledger():
    with playing(a_tape()) as tape:
        await asyncio.gather(ask(ReplayTransport(), "unknown"), return_exceptions=True)

    assert len(tape.ledger.misses) == 1


async def test_without_a_tape_a_request_is_a_miss_that_says_so():
    with pytest.raises(MissError, match=r"no tape is set .*`playing\(tape\)`"):
        await ask(ReplayTransport(), "anything")


async def test_the_tape_ends_with_its_block():
    with pytest.raises(ZeroDivisionError), playing(a_tape()):
        raise ZeroDivisionError

    assert current_tape.get() is None


def test_a_search_without_the_header_belongs_to_the_web_search():
    with playing(a_tape()) as tape, pytest.raises(MissError):
        httpx.Client(transport=HttpxReplayTransport()).post("http://127.0.0.1:9/search?a=1", json={"query": "q"})

    assert tape.ledger.misses[0].agent == "web_search"


def test_any_other_request_without_the_header_belongs_to_nobody_known():
    with playing(a_tape()) as tape, pytest.raises(MissError):
        httpx2.Client(transport=ReplayTransport()).get("http://127.0.0.1:9/v1/models")

    assert (tape.ledger.misses[0].agent, tape.ledger.misses[0].model) == ("unknown", "")


def takes(count: int) -> list[Interaction]:
    """So many answers to one question."""
    return [an_interaction("q", sample=n, answer=f"take {n}") for n in range(count)]


async def heard(tape: Tape, times: int) -> list[str]:
    """What a trial hears that asks its question so many times."""
    with playing(tape):
        return [await ask(ReplayTransport(), "q") for _ in range(times)]


@pytest.mark.parametrize("trial", range(3))
async def test_a_repeated_request_hears_answer_trial_plus_occurrence_modulo_k(trial):
    said = await heard(a_tape(*takes(3), sample=trial, samples=3), times=5)

    assert said == [f"take {(trial + occurrence) % 3}" for occurrence in range(5)]


async def test_a_sample_nobody_recorded_is_a_miss():
    """The first answer again would make two samples out of one."""
    with playing(a_tape(*takes(1), sample=1, samples=2)) as tape, pytest.raises(MissError):
        await ask(ReplayTransport(), "q")

    assert tape.ledger.misses[0].sample == 1


def test_looking_for_an_answer_that_is_not_there_takes_no_turn():
    with playing(a_tape(*takes(1), sample=1, samples=2)) as tape:
        found = [heard_ahead(an_interaction("q").key) for _ in range(2)]

    assert found == [None, None]
    assert tape.ledger == Ledger()
    assert tape.next_turn(an_interaction("q").key) == 1


def test_an_answer_looked_up_is_served():
    with playing(a_tape(*takes(2), samples=2)) as tape:
        found = [heard_ahead(an_interaction("q").key) for _ in range(2)]

    assert found == tape.ledger.served == takes(2)


def test_a_tape_refuses_a_sample_it_does_not_have():
    with pytest.raises(ValueError, match="sample 2 of 2"):
        a_tape(sample=2, samples=2)


def a_case(number: int) -> Tape:
    """Cases that ask the same two questions and have their own answers."""
    return a_tape(*(an_interaction(words, answer=f"case {number}: {words}") for words in ("one", "two")))


async def test_two_hundred_concurrent_tasks_hear_only_their_own_case():
    transport = ReplayTransport()

    async def trial(number: int) -> tuple[list[str], int]:
        with playing(a_case(number)) as tape:
            first = await ask(transport, "one")
            await asyncio.sleep((number * 7 % 11) / 1000)
            second = await asyncio.create_task(ask(transport, "two"))
        return [first, second], len(tape.ledger.served)

    heard = await asyncio.gather(*(trial(number) for number in range(200)))

    assert heard == [([f"case {n}: one", f"case {n}: two"], 2) for n in range(200)]


def test_two_hundred_cases_in_threads_hear_only_their_own_case():
    client = httpx2.Client(transport=ReplayTransport())
    barrier = threading.Barrier(20)

    def trial(number: int) -> list[str]:
        with playing(a_case(number)):
            barrier.wait(timeout=30)
            answers = [client.post("http://127.0.0.1:9" + CHAT, json=a_chat_request(w)) for w in ("one", "two")]
        return [answer.json()["choices"][0]["message"]["content"] for answer in answers]

    with ThreadPoolExecutor(20) as pool:
        heard = list(pool.map(trial, range(200)))

    assert heard == [[f"case {n}: one", f"case {n}: two"] for n in range(200)]


async def test_work_moved_to_a_thread_keeps_its_tape():
    with playing(a_case(3)):
        answer = await asyncio.to_thread(
            httpx2.Client(transport=ReplayTransport()).post, "http://127.0.0.1:9" + CHAT, json=a_chat_request("one")
        )

    assert "case 3: one" in answer.text

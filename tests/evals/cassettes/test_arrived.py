"""An answer that is paid for is on disk when its last byte is there, whatever its cassette waits for."""

import asyncio
import threading

import httpx2
import pytest
from filelock import FileLock

from evals.cassettes.cassette_files import load, merge_write
from evals.cassettes.event_loop_thread import Apart
from evals.cassettes.player import Tape, playing
from evals.cassettes.recorder import RecordingTransport, stage, take_staged
from evals.errors import CassetteError, SecretFoundError
from tests.builders.interaction import PLANTED, AnLlm, a_recorder, an_interaction, ask, words_of
from tests.builders.llm_server import an_llm_server
from tests.faults.test_kill import echo

LONG = 30  # seconds: nothing takes so long, but a test that hangs


@pytest.fixture
def path(tmp_path):
    return tmp_path / "case.yaml"


def waiting(path):
    """What came in and is not in the cassette yet."""
    return [words for place in sorted(path.parent.glob(".*.arrived")) for words in words_of(load(place).interactions)]


def seen(path) -> bool:
    """Whether an answer comes in before long."""
    pause = threading.Event()
    return any(waiting(path) or pause.wait(0.01) for _ in range(LONG * 100))


async def test_an_answer_is_there_while_its_cassette_waits_for_another_writer(path):
    transport = RecordingTransport(a_recorder(), AnLlm())
    with playing(Tape(load(path))), FileLock(path.with_name(f".{path.name}.lock")):
        asking = asyncio.create_task(ask(transport, "q"))
        there = await asyncio.to_thread(seen, path)

        assert (there, path.exists(), asking.done()) == (True, False, False)
    assert (await asking, waiting(path), words_of(load(path).interactions)) == ("Re: q", [], ["q"])


async def test_an_answer_is_kept_while_the_graph_computes(path):
    """The loop of the trials is held until the answer is on disk: who takes it in does not need that loop."""
    apart, asked, loop = Apart(), asyncio.Event(), asyncio.get_running_loop()
    with an_llm_server(echo) as llm:
        llm.heard = lambda _: loop.call_soon_threadsafe(asked.set)
        transport = RecordingTransport(a_recorder(apart=apart), _At(llm.search_url))
        with playing(Tape(load(path))):
            asking = asyncio.create_task(ask(transport, "q"))
            await asked.wait()
            there = seen(path)

            assert there
            assert await asking == "Re: q"
        await transport.aclose()
    apart.end()


class _At(httpx2.AsyncBaseTransport):
    """Sends what is meant for anybody to this address."""

    def __init__(self, url: str) -> None:
        self._url, self._inner = httpx2.URL(url), httpx2.AsyncHTTPTransport()

    async def handle_async_request(self, request):
        request.url = request.url.copy_with(port=self._url.port)
        return await self._inner.handle_async_request(request)

    async def aclose(self):
        await self._inner.aclose()


def test_the_next_recording_takes_in_what_came_before_a_kill(path):
    merge_write(path, [an_interaction("old")])
    stage(path, an_interaction("new"))

    take_staged(path)

    assert (sorted(words_of(load(path).interactions)), waiting(path)) == (["new", "old"], [])


def test_what_the_cassette_holds_meanwhile_stays(path):
    stage(path, an_interaction("q", answer="second"))
    merge_write(path, [an_interaction("q", answer="first")])

    take_staged(path)

    assert [found.response["choices"][0]["message"]["content"] for found in load(path).interactions] == ["first"]


def test_of_a_neighbour_whose_name_begins_alike_nothing_is_taken(path):
    stage(path.with_name("case.yaml.old.yaml"), an_interaction("its"))

    take_staged(path)

    assert not path.exists()


def test_what_a_power_cut_left_of_an_answer_is_none(path):
    stage(path, an_interaction("q"))
    for place in path.parent.glob(".*.arrived"):
        place.write_bytes(place.read_bytes()[:100])

    take_staged(path)

    assert load(path).interactions == ()
    assert list(path.parent.glob(".*.arrived")) == []


def test_an_answer_with_a_secret_does_not_come_in(path):
    with pytest.raises(SecretFoundError):
        stage(path, an_interaction(answer=PLANTED["github_token"]))

    assert list(path.parent.iterdir()) == []


def test_where_nothing_can_be_written_it_is_said_in_words(tmp_path):
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(CassetteError, match="move the file that stands where a folder belongs"):
        stage(tmp_path / "file" / "case.yaml", an_interaction())


def test_what_a_kill_left_half_written_is_cleared_away(path):
    half = path.with_name(f"..{path.name}.{'0' * 16}.0.arrived.tmp")
    half.write_bytes(b"x_replay:")

    take_staged(path)

    assert not half.exists()

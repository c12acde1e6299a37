"""An answer is read no further than an answer may go, packed or not."""

import gzip
import zlib

import httpx2
import pytest

from evals.cassettes.live_answer import MAX_ANSWER, sending, usable
from evals.errors import NoAnswerError, RecordingError
from tests.builders.interaction import an_asked

JSON = {"content-type": "application/json"}
WHOLE = b'{"choices": [{"finish_reason": "stop", "message": {"content": "yes"}}]}'


class Pieces(httpx2.AsyncByteStream):
    """A body in pieces; `read` of them were asked for."""

    def __init__(self, piece: bytes, times: int) -> None:
        self.piece, self.times, self.read = piece, times, 0

    async def __aiter__(self):
        for _ in range(self.times):
            self.read += 1
            yield self.piece


async def answer(stream: httpx2.AsyncByteStream | bytes, encoding: str = ""):
    headers = JSON | ({"content-encoding": encoding} if encoding else {})
    body = {"stream": stream} if isinstance(stream, httpx2.AsyncByteStream) else {"content": stream}

    async def handle():
        return httpx2.Response(200, headers=headers, **body)

    return await sending(an_asked(), handle, httpx2)()


async def test_an_endless_answer_is_read_no_further_than_an_answer_may_go():
    endless = Pieces(b"x" * 1_000_000, 10**9)

    reply = await answer(endless)

    assert endless.read == MAX_ANSWER / 1_000_000 + 1
    with pytest.raises(RecordingError, match="more than 8,000,000 bytes"):
        usable(an_asked(), reply)


async def test_a_small_answer_that_unpacks_to_a_gigabyte_is_unpacked_no_further():
    packer = zlib.compressobj(9, wbits=31)
    bomb = b"".join(packer.compress(b"0" * 2**20) for _ in range(2**10)) + packer.flush()

    reply = await answer(Pieces(bomb, 1), "gzip")

    assert len(bomb) < MAX_ANSWER < len(reply.body) == MAX_ANSWER + 1


@pytest.mark.parametrize(("pack", "name"), [(gzip.compress, "gzip"), (zlib.compress, "deflate"), (bytes, "identity")])
async def test_what_comes_packed_in_the_common_ways_is_unpacked(pack, name):
    assert (await answer(pack(WHOLE), name)).body == WHOLE


async def test_what_is_not_packed_as_it_says_is_no_answer():
    with pytest.raises(NoAnswerError, match="no answer for critic"):
        await answer(Pieces(b"not packed at all", 1), "gzip")


async def test_what_is_packed_in_another_way_is_refused_with_a_remedy():
    with pytest.raises(RecordingError, match="packs its answers as 'br', unasked"):
        await answer(Pieces(b"?", 1), "br")

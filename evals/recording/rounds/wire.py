"""In the place of the network: requests are answered from the files that came back, and collected where nothing did."""

from dataclasses import dataclass
from typing import Final

import httpx2

from evals.cassette.borrowed import SourceTree, tree_for
from evals.cassette.player import Asked, asked, missed, tape_of
from evals.cassette.recorder import sample_being_asked
from evals.recording.rounds.answers import JSON, Answers
from evals.recording.wire import case_being_recorded

_ID_LENGTH: Final = 64  # the Batch API takes no longer ones; a key is just as long


@dataclass(frozen=True)
class Pending:
    """A request that waits for an answer, and the first case that asks it."""

    custom_id: str
    case_id: str
    request: Asked
    tree: SourceTree | None = None
    """The released package the case is about: what the request quotes of it is published."""


def custom_id(key: str, sample: int) -> str:
    """The request's key; further samples of it are told apart by a suffix."""
    suffix = f"-{sample}" if sample else ""
    return key[: _ID_LENGTH - len(suffix)] + suffix


class BatchWire(httpx2.AsyncBaseTransport):
    """A sibling of the wire to an endpoint. What it cannot answer ends the trial as a miss, and is in `pending`."""

    def __init__(self) -> None:
        self.answers = Answers()
        self.pending: dict[str, Pending] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The answer that came back. Raises MissError if there is none, or none that can be used."""
        ours = asked(request.method, request.url.raw_path, request.headers, await request.aread())
        sample = sample_being_asked.get()
        name = custom_id(ours.key, sample)
        tape = tape_of(ours)
        tree = tree_for(tape.cassette.path, tape.cassette.tree) if tape.cassette.tree else None
        reply = self.answers.reply(name, ours, tree)
        if reply is None:
            self.pending.setdefault(name, Pending(name, case_being_recorded.get(), ours, tree))
            raise missed(tape, ours, sample)
        return httpx2.Response(reply.status, headers={"content-type": JSON}, content=reply.body)

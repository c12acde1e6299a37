"""Request files of a batch round, in the format of OpenAI's Batch API."""

import json
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx2

from evals.cassettes.live_answer import HttpReply
from evals.cassettes.package_line_references import SourceTree, tree_for
from evals.cassettes.player import IncomingRequest, asked, missed, tape_of
from evals.cassettes.recorder import sample_being_asked
from evals.cassettes.request_key import parse_json
from evals.errors import SecretFoundError
from evals.recording.endpoint import case_being_recorded
from evals.recording.rounds.answer_files import JSON, Answers
from evals.secrets.secret_filter import NOTHING, AllowedSecrets, redact_request, scan

_ID_LENGTH: Final = 64  # the Batch API takes no longer ones; a key is just as long


@dataclass(frozen=True)
class Pending:
    """A request that waits for an answer, and the first case that asks it."""

    custom_id: str
    case_id: str
    request: IncomingRequest
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
        reply = await self.answer(asked(request.method, request.url.raw_path, request.headers, await request.aread()))
        return httpx2.Response(reply.status, headers={"content-type": JSON}, content=reply.body)

    async def answer(self, request: IncomingRequest) -> HttpReply:
        """The same for a request of any HTTP library."""
        sample = sample_being_asked.get()
        name = custom_id(request.key, sample)
        tape = tape_of(request)
        tree = tree_for(tape.cassette.path, tape.cassette.tree) if tape.cassette.tree else None
        reply = self.answers.reply(name, request, tree)
        if reply is None:
            self.pending.setdefault(name, Pending(name, case_being_recorded.get(), request, tree))
            raise missed(tape, request, sample)
        return reply


@dataclass(frozen=True)
class Round:
    """One round; `shards` are its request files in order."""

    number: int
    folder: Path

    @property
    def shards(self) -> list[Path]:
        """The request files."""
        return sorted(self.folder.glob("shard-*.jsonl"), key=_number)

    @property
    def answers(self) -> list[Path]:
        """The answers that lie beside the requests."""
        return sorted(self.folder.glob("answers-*.jsonl"), key=_number)

    def ids(self) -> list[str]:
        """The requests asked in this round."""
        lines = [line for path in self.shards for line in path.read_text(encoding="utf-8").splitlines()]
        return [parse_json(line)["custom_id"] for line in lines]


def rounds_in(folder: Path) -> list[Round]:
    """The rounds written so far, in order."""
    return sorted((Round(_number(path), path) for path in folder.glob("round-*")), key=lambda found: found.number)


def write_round(folder: Path, pending: Sequence[Pending], shards: int, allowed: AllowedSecrets = NOTHING) -> Round:
    """The next round below `folder`; the last one if it asks the same and is unanswered.

    Raises:
        SecretFoundError: a request holds a secret that is not `allowed`; nothing is written.
    """
    texts = {f"shard-{index}.jsonl": text for index, text in enumerate(_sharded(pending, shards, allowed), 1)}
    before = rounds_in(folder)
    if before and not before[-1].answers and _texts(before[-1]) == texts:
        return before[-1]
    number = before[-1].number + 1 if before else 1
    unfinished = folder / f".round-{number:03}.tmp"
    shutil.rmtree(unfinished, ignore_errors=True)  # what a killed export left
    unfinished.mkdir(parents=True)
    for name, text in texts.items():
        (unfinished / name).write_text(text, encoding="utf-8")
    return Round(number, unfinished.rename(folder / f"round-{number:03}"))


def _sharded(pending: Sequence[Pending], shards: int, allowed: AllowedSecrets) -> list[str]:
    """The text of each shard. Cases stay whole, for whoever answers a case has its context at hand; each goes to the
    shard that has least."""
    by_case: dict[str, list[str]] = {}
    for item in sorted(pending, key=lambda item: (item.case_id, item.request.agent, item.custom_id)):
        by_case.setdefault(item.case_id, []).append(_line(item, allowed))
    filled: list[list[str]] = [[] for _ in range(shards)]
    for lines in by_case.values():
        min(filled, key=len).extend(lines)
    return ["".join(lines) for lines in filled if lines]


def _line(item: Pending, allowed: AllowedSecrets) -> str:
    """One request. ASCII throughout: no reader takes a character inside it for the end of the line."""
    request = item.request
    body: Mapping[str, object] = redact_request(parse_json(request.body))
    if found := scan(body if item.tree is None else item.tree.folded(body), "body", allowed):
        raise SecretFoundError(
            Path(f"case {item.case_id}"),
            f"{found[0].rule} at {found[0].json_path} of a request by {request.agent}: remove it at its source; "
            "nothing was exported",
        )
    line = {"custom_id": item.custom_id, "method": request.method, "url": request.path, "body": body}
    return json.dumps(line) + "\n"


def _texts(found: Round) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in found.shards}


def _number(path: Path) -> int:
    """The number a name ends in."""
    digits = path.stem.rpartition("-")[2]
    return int(digits) if digits.isdigit() else 0


def by_file(found: Round) -> Counter[str]:
    """How many requests each shard holds."""
    return Counter({path.name: path.read_bytes().count(b"\n") for path in found.shards})

"""Request and answer files of a batch round, in the format of OpenAI's Batch API, validated line by line."""

import json
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final

import httpx2
from pydantic import Field, ValidationError

from evals.cassettes.live_answer import HttpReply, usable
from evals.cassettes.package_line_references import ROW, SourceTree, quoted, tree_for
from evals.cassettes.player import IncomingRequest, asked, missed, tape_of
from evals.cassettes.recorder import sample_being_asked
from evals.cassettes.request_key import parse_json
from evals.errors import ConfigurationError, RecordingError, SecretFoundError
from evals.models.base import Closed
from evals.recording.endpoint import case_being_recorded
from evals.secret_filter import (
    NOTHING,
    AllowedSecrets,
    fit_to_write,
    redact_request,
    redact_response,
    scan,
    scrub,
)

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


_VALID_SHOWN: Final = 200  # characters of a validator's sentence, which may quote a whole answer


def fault(request: Mapping[str, Any], answer: Mapping[str, Any]) -> str | None:
    """The first thing a chat answer gets wrong, None if it fits. A refusal is an answer of its own, and fits."""
    return next((found for choice in answer.get("choices", ()) for found in _faults(request, choice)), None)


def _faults(request: Mapping[str, Any], choice: Mapping[str, Any]) -> Iterator[str]:
    message = choice["message"]
    calls = message.get("tool_calls") or ()
    for call in calls:
        yield from _call_faults(request, call.get("function") or {})
    form = request.get("response_format") or {}
    if not calls and not message.get("refusal") and form.get("type") in ("json_schema", "json_object"):
        schema = (form.get("json_schema") or {}).get("schema") or {"type": "object"}
        ended = f" (it ended by {choice['finish_reason']!r})" if choice["finish_reason"] != "stop" else ""
        yield from (f"{found}{ended}" for found in _misfits(message.get("content"), schema, "the content"))


def _call_faults(request: Mapping[str, Any], called: Mapping[str, Any]) -> Iterator[str]:
    offered = {tool["function"]["name"]: tool["function"] for tool in request.get("tools") or () if "function" in tool}
    name = called.get("name")
    if name not in offered:
        yield f"the tool {name!r} was not offered, only {', '.join(offered) or 'none'}"
    else:
        yield from _misfits(called.get("arguments"), offered[name].get("parameters") or {}, f"the call of {name}")


def _misfits(text: object, schema: Mapping[str, Any], what: str) -> Iterator[str]:
    """What is wrong with JSON text, by the validator's own judgement of what matters most."""
    try:
        value = parse_json(text if isinstance(text, str) else "")
    except ValueError:
        yield f"{what} is not whole JSON"
        return
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # noqa: PLC0415 - a plan needs none
    from jsonschema.exceptions import best_match  # type: ignore[import-untyped]  # noqa: PLC0415 - as above

    error = best_match(Draft202012Validator(schema).iter_errors(value))
    if error is not None:
        yield f"{error.json_path}: {scrub(error.message)[:_VALID_SHOWN]}"


JSON: Final = "application/json"
_SHOWN: Final = 12  # characters of a custom_id: enough to find it, short enough to read
_ERROR_SHOWN: Final = 200


class Response(Closed, extra="ignore"):
    """The answer as the endpoint gave it."""

    status_code: Annotated[int, Field(ge=100, le=599)]
    body: dict[str, Any]


class AnswerLine(Closed, extra="ignore"):
    """One line of an output file: a response, or the reason why there is none."""

    custom_id: Annotated[str, Field(min_length=1)]
    response: Response | None = None
    error: Any = None


@dataclass(frozen=True)
class Placed:
    """A line and where it stands (`file:line`)."""

    place: str
    line: AnswerLine

    def __str__(self) -> str:
        return f"{self.place}: {self.line.custom_id[:_SHOWN]}"


@dataclass
class Answers:
    """The lines by the request they answer. Of several usable answers to one request the first counts.

    `model` is who is said to have answered. `remarks` says, one sentence each, what was wrong with a line; `unusable`
    holds the requests whose answers were all refused, `others` how many answers name another model than `model`.
    """

    lines: dict[str, list[Placed]] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    model: str | None = None
    keep_invalid: bool = False
    allowed: AllowedSecrets = NOTHING
    unusable: set[str] = field(default_factory=set)
    others: Counter[str] = field(default_factory=Counter)
    _chosen: dict[str, Placed | None] = field(default_factory=dict)

    @classmethod
    def read(cls, paths: Sequence[Path], *, model: str | None = None, keep_invalid: bool = False) -> "Answers":
        """The answers in all files. Raises ConfigurationError for a file that cannot be read."""
        found = cls(model=model, keep_invalid=keep_invalid)
        for path in paths:
            for place, text in _lines(path):
                line = _parsed(text)
                if isinstance(line, str):
                    found.remarks.append(f"{place}: {line}; this line is skipped")
                else:
                    found.lines.setdefault(line.custom_id, []).append(Placed(place, line))
        return found

    @property
    def taken(self) -> int:
        """How many answers a trial has heard that nobody had recorded before."""
        return sum(chosen is not None for chosen in self._chosen.values())

    def reply(self, custom_id: str, request: IncomingRequest, tree: SourceTree | None = None) -> HttpReply | None:
        """The first usable answer to a request, None if there is none; it must not copy the released `tree`."""
        if custom_id not in self.lines:
            return None
        if custom_id not in self._chosen:
            self._chosen[custom_id] = self._choose(custom_id, request, tree)
        chosen = self._chosen[custom_id]
        return _reply(chosen.line.response) if chosen and chosen.line.response else None

    @property
    def unheard(self) -> set[str]:
        """The requests that are answered here, and that no trial has asked."""
        return self.lines.keys() - self._chosen.keys()

    def nobodys(self, known: set[str]) -> list[str]:
        """Remarks on answers no trial has asked for, those to `known` requests left out: they were recorded before."""
        nobodys = self.unheard - known
        return [
            f"{placed}: no trial asks for this now; nothing is recorded of it"
            for custom_id, found in self.lines.items()
            if custom_id in nobodys
            for placed in found
        ]

    def known_before(self, known: set[str]) -> int:
        """How many requests are answered here whose answer was on record before."""
        return len(self.unheard & known)

    def _choose(self, custom_id: str, request: IncomingRequest, tree: SourceTree | None) -> Placed | None:
        chosen = None
        for placed in self.lines[custom_id]:
            wrong = (
                f"is answered at {chosen.place} already, which counts" if chosen else self._wrong(placed, request, tree)
            )
            if wrong:
                self.remarks.append(f"{placed} ({request.agent}) {wrong}")
            else:
                chosen = placed
        if chosen is None:
            self.unusable.add(custom_id)
        elif self.model and (named := str(_body(chosen).get("model") or self.model)) != self.model:
            self.others[named] += 1
        return chosen

    def _wrong(self, placed: Placed, request: IncomingRequest, tree: SourceTree | None) -> str | None:
        """Why this line cannot be recorded as the answer; None if it can."""
        line = placed.line
        if line.response is None or line.error:
            return f"has an error in place of an answer, and is asked again: {_shown(line.error)}"
        try:
            answer = usable(request, _reply(line.response))
        except RecordingError as error:
            return f"is asked again: {error}"
        if found := scan(redact_response(request.path.partition("?")[0], answer), "response", self.allowed):
            return f"holds what must not be kept, and is asked again: {found[0].rule} at {found[0].json_path}"
        if tree is not None and (copied := quoted(answer, tree)):
            return f"copies {ROW} lines in a row of {copied}, and is asked again: say it in other words"
        invalid = None if self.keep_invalid else fault(parse_json(request.body), answer)
        return f"breaks its schema, asked again (--set keep_invalid=yes keeps it): {invalid}" if invalid else None


def _reply(response: Response) -> HttpReply:
    return HttpReply(response.status_code, JSON, json.dumps(response.body).encode())


def _body(placed: Placed) -> dict[str, Any]:
    return placed.line.response.body if placed.line.response else {}


def _shown(error: object) -> str:
    text = error if isinstance(error, str) else json.dumps(error)
    return scrub(" ".join(text.split()))[:_ERROR_SHOWN]


def _lines(path: Path) -> Iterator[tuple[str, bytes]]:
    """Each line that is not blank, with its place. (A byte order mark or CRLF of another system is nothing to JSON.)"""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigurationError(
            f"--import {path}: {error.strerror}; name a file of answers, one JSON line each"
        ) from None
    for number, line in enumerate(content.split(b"\n"), 1):
        if line.strip():
            yield f"{path}:{number}", line


def _parsed(text: bytes) -> AnswerLine | str:
    """The line, or what is wrong with it."""
    try:
        value = parse_json(text)
    except ValueError:  # half a line is all a killed answerer leaves of its last answer
        return "not JSON, or cut short"
    if not isinstance(value, dict):
        return "not a JSON object"
    try:
        return AnswerLine.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


_CHAT: Final = "/chat/completions"  # nothing else is handed out


def fit_line(line: bytes, allowed: AllowedSecrets) -> bytes:
    """The line of an answer file as it may stand there. An answer that holds a secret is an error in its place, and is
    asked again; what would be dropped of it anyway is withheld."""
    text = line.decode(errors="replace")
    try:
        value = parse_json(text)
    except ValueError:
        return line if scrub(text) == text else scrub(text).encode()
    response = value.get("response") if isinstance(value, dict) else None
    body = response.get("body") if isinstance(response, dict) else None
    found = scan(redact_response(_CHAT, body), "response", allowed) if isinstance(body, dict) else []
    if found:
        error = f"withheld: {found[0].rule} at {found[0].json_path}"
        value = {"custom_id": value.get("custom_id"), "response": None, "error": error}
        text = json.dumps(value)
    fit = fit_to_write(text, allowed)
    return line if not found and fit == text else fit.encode()

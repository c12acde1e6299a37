"""Plants secrets through every door where text is written, then looks for each on the disk, in every usual encoding."""

import asyncio
import base64
import html
import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from urllib.parse import quote

import httpx2

from evals.cassettes.cassette_files import load
from evals.cassettes.player import Tape, playing
from evals.cassettes.recorder import RecordingTransport
from evals.errors import EvalsError
from evals.recording.batch_files import write_round
from evals.recording.batch_rounds import Answerer
from evals.report.run_files import write_report
from evals.runner.trial_cache import TraceCache
from evals.secret_filter import scan, unsuspicious
from evals.shared.secrets.rule import hold, release
from evals.shared.secrets.scanner import EMAIL, SECOND_OPINION
from tests.builders.batch import a_pending
from tests.builders.interaction import CHAT, a_chat_answer, a_chat_request, a_recorder
from tests.builders.loopback import serving
from tests.builders.run import a_case_info, a_run, a_trial, a_variant_info
from tests.builders.trace import a_decision, a_trace
from tests.chaos import row
from tests.chaos.blind_secrets import Sample, corpus
from tests.chaos.shapes import SHAPES, Shape
from tests.chaos.third_blind_secrets import HARMLESS, SECRETS

EACH: Final = 15
"""Secrets of a shape."""
BLIND: Final = 5
"""Seeds of the generator whose author had not read the rules; 300 secrets and 300 harmless texts each."""
MISSED: Final = 0.05
FALSE: Final = 0.02
"""The share of secrets that may go through, and of harmless texts that may be refused."""


@dataclass(frozen=True)
class Endpoint:
    """An endpoint on loopback that says what it was told last."""

    address: str
    says: list[object]


Door = Callable[[Path, Sequence[str], Endpoint], None]


@dataclass(frozen=True)
class Row:
    """One shape of secrets: how many were planted, through each door, and how many of them stand in any file."""

    what: str
    planted: int
    on_disk: int
    promised: bool


def rows(_folder: Path, share: float, seed: int) -> list[row.Row]:
    """What was planted and found again: all that is promised together, and each shape that is not."""
    found = planted(seed, max(1, round(EACH * share)))
    kept = [each for each in found if each.promised]
    what = f"secrets of {len(kept)} promised shapes through {len(DOORS)} doors that stand on the disk"
    together = row.Row(what, sum(each.planted for each in kept), sum(each.on_disk for each in kept))
    others = (each for each in found if not each.promised)
    return [
        together,
        *(row.Row(f"secrets: {each.what}", each.planted, each.on_disk, promised=False) for each in others),
        *blind_rows(range(seed, seed + max(1, round(BLIND * share)))),
        *third_rows(),
    ]


def blind_rows(seeds: Iterable[int]) -> list[row.Row]:
    """What happens to the texts of the first blind corpus."""
    secrets, harmless = ([each for side in sides for each in side] for sides in zip(*map(corpus, seeds), strict=True))
    return _corpus_rows("the blind corpus", secrets, harmless)


def third_rows() -> list[row.Row]:
    """What happens to the texts of the third blind corpus."""
    return _corpus_rows("the third blind corpus", SECRETS, HARMLESS)


def _corpus_rows(name: str, secrets: Sequence[Sample], harmless: Sequence[Sample]) -> list[row.Row]:
    """How many of a blind corpus' secrets go through, and how many of its harmless texts are refused.

    A row is a promise once more than the share that is allowed goes wrong. A mail address is personal data and no
    secret: it counts neither as found nor as a false alarm, and has a row of its own. Both looks have to agree.
    """
    missed = sum(not _rules_for(each) for each in secrets)
    refused = [_rules_for(each, but=()) for each in harmless]
    false = sum(bool(rules - {EMAIL}) for rules in refused)
    mail = sum(rules == {EMAIL} for rules in refused)
    return [
        row.Row(f"secrets of {name} that go through", len(secrets), missed, missed > MISSED * len(secrets)),
        row.Row(f"harmless texts of {name} refused", len(harmless), false, false > FALSE * len(harmless)),
        row.Row("the same, for somebody's mail address", len(harmless), mail, promised=False),
    ]


def _rules_for(sample: Sample, but: tuple[str, ...] = (EMAIL,)) -> set[str]:
    """The rules that see something in a text, as it is written to a cassette."""
    rules = {found.rule for found in scan({"content": sample.text})}
    if rules - {SECOND_OPINION} and unsuspicious([json.dumps({"content": sample.text})], []):
        raise AssertionError(f"the quick look passes what the scan sees ({sample.kind}: {sorted(rules)})")
    return rules - set(but)


def planted(seed: int = 0, each: int = EACH) -> list[Row]:
    """`each` secrets of every shape, drawn from `seed`, through every door."""
    dice = random.Random(seed)  # noqa: S311 - nobody's keys
    says: list[object] = []
    with serving(lambda _: httpx2.Response(200, json=says[-1])) as address:
        endpoint = Endpoint(address, says)
        return [_row(shape, [shape.secret(dice) for _ in range(each)], endpoint) for shape in SHAPES]


def _row(shape: Shape, secrets: Sequence[str], endpoint: Endpoint) -> Row:
    if shape.held:
        hold(*secrets)
    try:
        with TemporaryDirectory() as folder:
            for name, door in DOORS.items():
                (Path(folder) / name).mkdir()
                door(Path(folder) / name, [shape.around(secret) for secret in secrets], endpoint)
            written = [path.read_bytes() for path in sorted(Path(folder).rglob("*")) if path.is_file()]
    finally:
        release()
    found = [each for each in secrets if any(word in content for word in _spelled(shape, each) for content in written)]
    return Row(shape.name, len(secrets), len(found), shape.promised)


def _spelled(shape: Shape, secret: str) -> set[bytes]:
    """The secret in every usual encoding, and as it was planted."""
    raw = secret.encode()
    texts = {secret, secret[::-1], quote(secret, safe=""), html.escape(secret)}
    texts |= {raw.hex(), base64.b64encode(raw).decode()}
    texts |= {spelled for text in (secret, shape.around(secret)) for spelled in _as_json(text)}
    return {text.encode() for text in texts}


def _as_json(text: str) -> Iterator[str]:
    for ascii_only in (True, False):
        once = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
        yield from (once, json.dumps(once, ensure_ascii=ascii_only)[1:-1])


def _recorded(folder: Path, asked: Sequence[object], answers: Sequence[object], endpoint: Endpoint) -> None:
    """Each request and its answer through the real recorder."""

    async def send() -> None:
        transport = RecordingTransport(a_recorder(), httpx2.AsyncHTTPTransport())
        for ask, answer in zip(asked, answers, strict=True):
            endpoint.says.append(answer)
            request = httpx2.Request("POST", endpoint.address + CHAT.removeprefix("/v1"), json=ask)
            with suppress(EvalsError), playing(Tape(load(folder / "case.yaml"))):
                await transport.handle_async_request(request)
        await transport.aclose()

    asyncio.run(send())


def _questions(texts: Sequence[str]) -> list[object]:
    return [a_chat_request(f"question {number}") for number in range(len(texts))]


def _requests(folder: Path, texts: Sequence[str], endpoint: Endpoint) -> None:
    _recorded(folder, [a_chat_request(text) for text in texts], [a_chat_answer()] * len(texts), endpoint)


def _answers(folder: Path, texts: Sequence[str], endpoint: Endpoint) -> None:
    _recorded(folder, _questions(texts), [a_chat_answer(text) for text in texts], endpoint)


def _calls(folder: Path, texts: Sequence[str], endpoint: Endpoint) -> None:
    """In the arguments of a tool call, which are JSON in a text."""

    def calling(text: str) -> object:
        function = {"name": "search", "arguments": json.dumps({"query": text})}
        message = {"role": "assistant", "tool_calls": [{"id": "call_1", "type": "function", "function": function}]}
        return a_chat_answer(choices=[{"index": 0, "finish_reason": "tool_calls", "message": message}])

    _recorded(folder, _questions(texts), [calling(text) for text in texts], endpoint)


def _rounds(folder: Path, texts: Sequence[str], _: Endpoint) -> None:
    """What a command answers to a round that asks as many things."""
    asked = [a_pending(f"question {number}") for number in range(len(texts))]
    lines = [
        json.dumps({"custom_id": item.custom_id, "response": {"status_code": 200, "body": a_chat_answer(text)}})
        for item, text in zip(asked, texts, strict=True)
    ]
    with TemporaryDirectory() as elsewhere:
        known = Path(elsewhere) / "known.jsonl"
        known.write_text("\n".join(lines), encoding="utf-8")
        asyncio.run(Answerer(("cat", str(known))).answer(write_round(folder, asked, 1)))


def _reports(folder: Path, texts: Sequence[str], _: Endpoint) -> None:
    """In an issue, a prompt, and what a model is said to have reasoned."""
    decisions = tuple(a_decision(index, reasoning=text) for index, text in enumerate(texts))
    told = {"cases": (a_case_info(body="\n".join(texts)),), "variants": (a_variant_info(prompt_text="\n".join(texts)),)}
    write_report(a_run(a_trial(a_trace(decisions=decisions))).model_copy(update=told), folder)


def _trials(folder: Path, texts: Sequence[str], _: Endpoint) -> None:
    for number, text in enumerate(texts):
        TraceCache(folder).put(f"{number:064}", a_trace(decisions=(a_decision(reasoning=text),)))


DOORS: Final[dict[str, Door]] = {
    "requests": _requests,
    "answers": _answers,
    "calls": _calls,
    "rounds": _rounds,
    "reports": _reports,
    "trials": _trials,
}

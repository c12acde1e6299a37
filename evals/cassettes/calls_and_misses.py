"""Calls and misses of a trial as its trace keeps them, with the recorded request nearest to each miss."""

import hashlib
import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import groupby, islice, takewhile, zip_longest
from typing import Any, Final, Literal

from evals.cassettes.cassette_data import Cassette, Interaction, words_of
from evals.cassettes.request_key import canonical_body, parse_json, volatile_kinds
from evals.errors import EvalsError
from evals.models.trace import Call, Difference, Miss, Nearest

MAX_DIFFERENCES: Final = 40
MAX_IN_TEXT: Final = 8  # of one text: a context that is all new must not hide a changed schema behind it
MAX_LINES: Final = 8  # of one difference
MAX_CHARS: Final = 300  # of one line
_LINES_COMPARED: Final = 400  # of the part that differs: bounds the time a pasted log can take
_ABSENT: Final = object()

Opcode = tuple[Literal["replace", "delete", "insert", "equal"], int, int, int, int]


def differences(recorded: object, asked: object) -> tuple[Difference, ...]:
    """The first places where `asked` is not `recorded`, in the order of the body; both are JSON values."""
    return tuple(islice(_walk(recorded, asked, ""), MAX_DIFFERENCES))


def _walk(recorded: object, asked: object, path: str) -> Iterator[Difference]:
    if isinstance(recorded, dict) and isinstance(asked, dict):
        for name in dict.fromkeys([*recorded, *asked]):
            yield from _walk(recorded.get(name, _ABSENT), asked.get(name, _ABSENT), f"{path}.{name}".lstrip("."))
    elif isinstance(recorded, list) and isinstance(asked, list):
        for index, (old, new) in enumerate(zip_longest(recorded, asked, fillvalue=_ABSENT)):
            yield from _walk(old, new, f"{path}[{index}]")
    elif isinstance(recorded, str) and isinstance(asked, str):
        yield from islice(_texts(recorded, asked, path), MAX_IN_TEXT)
    elif recorded != asked:
        yield Difference(path=path, recorded=_shown(recorded), asked=_shown(asked))


def _texts(recorded: str, asked: str, path: str) -> Iterator[Difference]:
    """The lines that differ, together with the shared ones around them."""
    if recorded == asked:
        return
    old, new = recorded.splitlines(), asked.splitlines()
    if old == new:  # only the ends of lines, or of the text, differ
        yield Difference(path=path, recorded=repr(recorded[-20:]), asked=repr(asked[-20:]))
        return
    start, codes = _opcodes(old, new)
    for tag, a, b, c, d in codes:
        if tag != "equal":
            was, now = old[start + a : start + b], new[start + c : start + d]
            yield Difference(
                path=path,
                line=start + c + 1,
                recorded=_lines(was),
                asked=_lines(now),
                after=new[start + c - 1][:MAX_CHARS] if start + c else "",
                before=new[start + d][:MAX_CHARS] if start + d < len(new) else "",
                volatile=_volatile(was, now),
            )


def _volatile(was: Sequence[str], now: Sequence[str]) -> tuple[str, ...]:
    """Lines too many to compare have more between them than a time or a path."""
    return () if max(len(was), len(now)) > _LINES_COMPARED else volatile_kinds("\n".join(was), "\n".join(now))


def _opcodes(old: Sequence[str], new: Sequence[str]) -> tuple[int, Sequence[Opcode]]:
    """How many lines both begin with, and what became of the lines between those and the ones both end with."""
    head = _shared(old, new)
    tail = _shared(old[head:][::-1], new[head:][::-1])
    was, now = old[head : len(old) - tail], new[head : len(new) - tail]
    if max(len(was), len(now)) > _LINES_COMPARED:
        return head, [("replace", 0, len(was), 0, len(now))]
    return head, SequenceMatcher(None, was, now, autojunk=False).get_opcodes()


def _shared(old: Sequence[str], new: Sequence[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))


def _lines(lines: Sequence[str]) -> str:
    kept = [line[:MAX_CHARS] + ("…" if len(line) > MAX_CHARS else "") for line in lines[:MAX_LINES]]
    return "\n".join(kept + ([f"… {len(lines) - MAX_LINES} more lines"] if len(lines) > MAX_LINES else []))


def _shown(value: object) -> str:
    """A value that is no text, as JSON; nothing where there is none."""
    return "" if value is _ABSENT else json.dumps(value, ensure_ascii=False)[:MAX_CHARS]


@dataclass(frozen=True)
class MissRecord:
    """One request nobody recorded.

    `path` is the URL path with its query, `body` the bytes as sent, `served_before` the number of requests of this
    trial that had been answered when it was made.
    """

    key: str
    sample: int
    agent: str
    method: str
    path: str
    model: str
    body: bytes
    served_before: int = 0


@dataclass
class Ledger:
    """Grows only, in the order things happened. A trial is exact as long as `misses` is empty; `failures` are what went
    wrong while its requests were recorded."""

    served: list[Interaction] = field(default_factory=list)
    misses: list[MissRecord] = field(default_factory=list)
    failures: list[EvalsError] = field(default_factory=list)


def nearest(miss: MissRecord, cassette: Cassette) -> Nearest | None:
    """The nearest recorded request of the same agent to the same address; None if there is none."""
    own = [
        found for found in cassette.interactions if found.agent == miss.agent and _path(found.uri) == _path(miss.path)
    ]
    if not own:
        return None
    asked = body_of(miss.body)  # as it was sent, like the recorded ones: a canonical 0 is another word than 0.0
    prompt_alike, prompt, group = _same_prompt(asked, own)
    words = words_of(asked)
    alike, best = max(((_alike(words, found.words), found) for found in group), key=lambda pair: pair[0])
    return Nearest(
        key=best.key,
        sample=best.sample,
        alike=round(alike, 4),
        prompt_alike=round(prompt_alike, 4),
        prompt_digest=digest(prompt),
        differences=differences(*(body_of(canonical_body(body)) for body in (best.body_sent, miss.body))),
    )


def system_text(body: Mapping[str, Any]) -> str:
    """The system prompt of a request; empty if it has none."""
    messages = body.get("messages")
    system = [
        str(message.get("content") or "")
        for message in (messages if isinstance(messages, list) else ())
        if isinstance(message, Mapping) and message.get("role") == "system"
    ]
    return "\n".join(system)


def digest(text: str) -> str:
    """Names a text in 16 characters."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def body_of(body: bytes) -> dict[str, Any]:
    """The JSON object in a body; empty if there is none."""
    try:
        value = parse_json(body)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _same_prompt(asked: Mapping[str, Any], recorded: list[Interaction]) -> tuple[float, str, list[Interaction]]:
    """The recorded system prompt most like the one asked with, how alike they are, and the requests that have it."""
    groups: dict[str, list[Interaction]] = {}
    for found in recorded:
        groups.setdefault(system_text(found.request), []).append(found)
    wanted = system_text(asked)
    words = _counted(wanted)
    scored = [(1.0 if text == wanted else _alike(words, _counted(text)), text) for text in groups]
    alike, text = max(scored, key=lambda pair: pair[0])
    return alike, text, groups[text]


@lru_cache(64)
def _counted(text: str) -> Counter[str]:
    """The words of a prompt, which all cases share."""
    return Counter(text.split())


def _alike(left: Counter[str], right: Counter[str]) -> float:
    """The share of words two texts have in common, whatever their order, 0..1."""
    total = left.total() + right.total()
    shared = left.keys() & right.keys()  # `left & right` would look at each word that only one of them has
    return 2 * sum(min(left[word], right[word]) for word in shared) / total if total else 1.0


def _path(path: str) -> str:
    return path.partition("?")[0]


_WORDS_SHOWN: Final = 12


def describe(miss: MissRecord) -> str:
    """One line: agent, model, and the first words of the last message (or of the search)."""
    words = _last_words(body_of(miss.body)).split()
    shown = " ".join(words[:_WORDS_SHOWN]) + (" …" if len(words) > _WORDS_SHOWN else "")
    model = f" ({miss.model})" if miss.model else ""
    return f"{miss.agent}{model} asked {miss.method} {miss.path}: {shown or 'an empty body'!s}"


def _last_words(body: Mapping[str, Any]) -> str:
    messages = body.get("messages")
    if isinstance(messages, list) and messages and isinstance(messages[-1], dict):
        return str(messages[-1].get("content") or "")
    return str(body.get("query") or "")


def calls_of(ledger: Ledger, ends: Sequence[int] = (), in_order: str = "") -> tuple[Call, ...]:
    """The calls in order.

    Agents may ask for several things at once, and steps may run side by side; whose answer comes first is chance: calls
    of one superstep, or of one agent in a row, are ordered by agent and key.

    Args:
        ledger: what was served.
        ends: how many requests had been served when each superstep ended.
        in_order: an agent that asks one thing after the other.
    """
    steps = [bisect_left(ends, place + 1) for place in range(len(ledger.served))]
    placed = zip(steps, ledger.served, strict=True)
    in_a_row = (
        sorted((served for _, served in row), key=lambda one: (one.agent, "" if one.agent == in_order else one.key))
        for _, row in groupby(placed, key=lambda pair: (pair[0], "" if ends else pair[1].agent))
    )
    return tuple(
        Call(
            agent=served.agent,
            key=served.key,
            model=served.model,
            prompt_tokens=served.usage.prompt_tokens,
            completion_tokens=served.usage.completion_tokens,
            latency_ms=served.latency_ms,
            recorded_by=served.recorded_by,
        )
        for row in in_a_row
        for served in row
    )


def misses_of(ledger: Ledger, cassette: Cassette, decision: int) -> tuple[Miss, ...]:
    """The misses, by agent and key; `decision` is the number of decisions complete before them."""
    return tuple(
        Miss(
            key=missed.key,
            agent=missed.agent,
            method=missed.method,
            path=missed.path,
            model=missed.model,
            decision=decision,
            characters=len(missed.body),
            nearest=nearest(missed, cassette),
        )
        for missed in sorted(ledger.misses, key=lambda missed: (missed.agent, missed.key))
    )

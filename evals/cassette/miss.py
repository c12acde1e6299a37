"""A miss in words: what was asked, and how it differs from the nearest request that was recorded."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import chain
from typing import Any, Final

from evals.cassette.key import canonical_body, parse_json
from evals.cassette.ledger import MissRecord
from evals.cassette.store import Cassette, Interaction

_WORDS_SHOWN: Final = 12
_WORDS_COMPARED: Final = 1500  # bounds the search: 60 requests of any length stay under 50 ms


@dataclass(frozen=True)
class Nearest:
    """The recorded request of the same agent that shares most words. `ratio` is in 0..1."""

    interaction: Interaction
    ratio: float
    differs: tuple[str, ...]

    def __str__(self) -> str:
        where = ", ".join(self.differs) or "its spelling only"
        return f"nearest recorded request of {self.interaction.agent} is {self.ratio:.0%} alike; differs in {where}"


def describe(miss: MissRecord) -> str:
    """One line: agent, model, and the first words of the last message (or of the search)."""
    words = _last_words(_body(miss.body)).split()
    shown = " ".join(words[:_WORDS_SHOWN]) + (" …" if len(words) > _WORDS_SHOWN else "")
    model = f" ({miss.model})" if miss.model else ""
    return f"{miss.agent}{model} asked {miss.method} {miss.path}: {shown or 'an empty body'!s}"


def nearest(miss: MissRecord, cassette: Cassette) -> Nearest | None:
    """The recorded request that comes closest; None if nothing of this agent is recorded."""
    asked = _body(miss.body)
    matcher: SequenceMatcher[str] = SequenceMatcher(autojunk=False)
    matcher.set_seq2(_words(asked))
    best: Nearest | None = None
    for interaction in cassette.interactions:
        if interaction.agent != miss.agent:
            continue
        matcher.set_seq1(_words(interaction.request))
        floor = best.ratio if best else -1.0
        if matcher.real_quick_ratio() > floor and (ratio := matcher.quick_ratio()) > floor:
            best = Nearest(interaction, ratio, ())
    if best is None:
        return None
    canonical = _body(canonical_body(miss.body))
    recorded = _body(canonical_body(best.interaction.body_sent))
    return Nearest(best.interaction, best.ratio, tuple(_differences(recorded, canonical)))


def _body(body: bytes) -> dict[str, Any]:
    try:
        value = parse_json(body)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _last_words(body: Mapping[str, Any]) -> str:
    messages = body.get("messages")
    if isinstance(messages, list) and messages and isinstance(messages[-1], dict):
        return str(messages[-1].get("content") or "")
    return str(body.get("query") or "")


def _words(body: Mapping[str, Any]) -> list[str]:
    return list(chain.from_iterable(text.split() for text in _texts(body)))[:_WORDS_COMPARED]


def _texts(value: object) -> list[str]:
    if isinstance(value, Mapping):
        return [text for member in value.values() for text in _texts(member)]
    if isinstance(value, list):
        return [text for item in value for text in _texts(item)]
    return [str(value)]


def _differences(recorded: object, asked: object, path: str = "") -> list[str]:
    """The JSON paths where two bodies part, each with the first words that differ."""
    if isinstance(recorded, dict) and isinstance(asked, dict):
        names = list(dict.fromkeys([*recorded, *asked]))
        deeper = [_differences(recorded.get(name), asked.get(name), f"{path}.{name}".lstrip(".")) for name in names]
        return list(chain.from_iterable(deeper))
    if isinstance(recorded, list) and isinstance(asked, list) and len(recorded) == len(asked):
        pairs = enumerate(zip(recorded, asked, strict=True))
        return list(chain.from_iterable(_differences(old, new, f"{path}[{i}]") for i, (old, new) in pairs))
    return [] if recorded == asked else [f"{path}{_first_difference(recorded, asked)}"]


def _first_difference(recorded: object, asked: object) -> str:
    if not isinstance(recorded, str) or not isinstance(asked, str):
        return ""
    old, new = recorded.split(), asked.split()
    same = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    return f" (at {' '.join(new[same : same + 6]) or 'its end'!r})"

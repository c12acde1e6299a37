"""A miss in words: who asked what."""

from collections.abc import Mapping
from typing import Any, Final

from evals.cassette.ledger import MissRecord
from evals.cassette.nearest import body_of

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

"""Limits on what an answer says of itself and on what one cassette holds, for recording and reading alike."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

MAX_MODEL: Final = 200
"""Characters of a model's name; the longest names in use have some 80."""
MAX_WORD: Final = 500
"""Characters of an answer's id and of what else it names itself by; ids in use have some 40."""
MAX_TOKENS: Final = 10_000_000
"""Tokens of one request or answer: the largest context window that any model has."""
MAX_ANSWERS: Final = 16_000_000
"""Bytes of all answers of one cassette. The largest cassette recorded has 0.8 MB as a whole; each write reads and
checks all of it, so the cost grows with the square of this."""

_WORDS: Final = {"model": MAX_MODEL, "id": MAX_WORD, "system_fingerprint": MAX_WORD, "service_tier": MAX_WORD}
_COUNTS: Final = ("prompt_tokens", "completion_tokens", "total_tokens")


def excess(answer: Mapping[str, Any]) -> str:
    """What an answer says of itself that cannot be kept, in a few words; empty where nothing is wrong."""
    for name, limit in _WORDS.items():
        word = answer.get(name)
        if isinstance(word, str) and len(word) > limit:
            return f"{name} of {len(word):,} characters, where {limit} is the limit"
    usage = answer.get("usage")
    counts = usage if isinstance(usage, Mapping) else {}
    for name in _COUNTS:
        count = counts.get(name)
        if count is not None and not _is_count(count):
            return f"usage.{name} that is no whole number from 0 to {MAX_TOKENS:,}"
    return ""


def too_many(sizes: Iterable[int]) -> int | None:
    """The index of the answer with which these sizes (bytes) exceed `MAX_ANSWERS`; None if they do not."""
    total = 0
    for index, size in enumerate(sizes):
        total += size
        if total > MAX_ANSWERS:
            return index
    return None


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_TOKENS

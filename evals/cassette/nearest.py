"""The recorded request that comes closest to one that missed.

Requests are compared in two steps, since they change in two ways: an edited prompt keeps the context, another route
keeps the prompt. First the recorded system prompt most like the one asked with, then, among the requests that have it,
the one that shares most words.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from evals.cassette.differences import differences
from evals.cassette.key import canonical_body, parse_json
from evals.cassette.ledger import MissRecord
from evals.cassette.store import Cassette, Interaction
from evals.models.nearest import Nearest

_WORDS_COMPARED: Final = 4000  # of one request: bounds the time a pasted log can take


def nearest(miss: MissRecord, cassette: Cassette) -> Nearest | None:
    """The nearest recorded request of the same agent to the same address; None if there is none."""
    own = [
        found for found in cassette.interactions if found.agent == miss.agent and _path(found.uri) == _path(miss.path)
    ]
    if not own:
        return None
    asked = body_of(miss.body)  # as it was sent, like the recorded ones: a canonical 0 is another word than 0.0
    prompt_alike, prompt, group = _same_prompt(asked, own)
    words = _words(asked)
    alike, best = max(((_alike(words, _words(found.request)), found) for found in group), key=lambda pair: pair[0])
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
    words = Counter(wanted.split())
    scored = [(1.0 if text == wanted else _alike(words, Counter(text.split())), text) for text in groups]
    alike, text = max(scored, key=lambda pair: pair[0])
    return alike, text, groups[text]


def _alike(left: Counter[str], right: Counter[str]) -> float:
    """The share of words two texts have in common, whatever their order, 0..1."""
    total = left.total() + right.total()
    return 2 * (left & right).total() / total if total else 1.0


def _words(body: Mapping[str, Any]) -> Counter[str]:
    words: Counter[str] = Counter()
    for text in texts_of(body):
        words.update(text.split()[:_WORDS_COMPARED])
    return words


def texts_of(value: object) -> Iterator[str]:
    """Every value in a JSON value that holds no other, as text."""
    if isinstance(value, Mapping):
        for member in value.values():
            yield from texts_of(member)
    elif isinstance(value, list):
        for item in value:
            yield from texts_of(item)
    else:
        yield str(value)


def _path(path: str) -> str:
    return path.partition("?")[0]

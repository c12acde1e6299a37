"""What may stand in a cassette: an allow-list for members and headers, and a last look for secrets.

Kept of headers: `content-type`, nothing else. Kept of a request: its JSON body without the members that carry a
credential. Kept of an answer: the members its protocol defines, which include volatile ones (`id`, `created`,
`system_fingerprint`, `response_time`): they say where an answer came from and no scorer reads them. Dropped are
server extras (timings, verbose dumps, content-filter and account data). What is left is scanned, and a single finding
blocks the write: removing a secret silently would change what was asked.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from evals.cassette.allowed_secrets import NOTHING, AllowedSecrets, digest_of
from evals.cassette.key import REDACTED_MEMBERS, parse_json
from triage.secrecy.names import is_named
from triage.secrecy.rules import HIGH_ENTROPY, Sighting, known_formats, none_in, secrets_in

CHAT_MEMBERS: Final = frozenset(
    {"id", "object", "created", "model", "choices", "usage", "system_fingerprint", "service_tier"}
)
SEARCH_MEMBERS: Final = frozenset(
    {"query", "follow_up_questions", "answer", "images", "results", "response_time", "auto_parameters"}
)
WITHHELD: Final = "[withheld: it holds a secret]"
_PROTOCOL_ID: Final = re.compile(r"\.(?:tool_calls\[\d+\]\.id|tool_call_id)$")  # random by design, secret to nobody
_NAME: Final = re.compile(r'"([^"\\]{1,64})"\s*:\s*"')
"""The name of a member that is a text."""
_SPELLED: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')
"""Every text in a JSON text, names included, as it is spelled there."""


@dataclass(frozen=True)
class SecretFinding:
    """Which rule fired and where (`$.messages[0].content`); never what it saw, but for its digest."""

    rule: str
    json_path: str
    sha256: str = field(default="", compare=False)


def redact_request(body: Mapping[str, object]) -> dict[str, object]:
    """The request body as it is stored and keyed."""
    return {name: member for name, member in body.items() if name not in REDACTED_MEMBERS}


def redact_response(path: str, body: Mapping[str, object]) -> dict[str, object]:
    """The answer's body as it is stored and served; an unknown protocol's answer is kept whole."""
    allowed = _members_allowed(path)
    return {name: member for name, member in body.items() if allowed is None or name in allowed}


def scan(value: object, path: str = "$", allowed: AllowedSecrets = NOTHING) -> list[SecretFinding]:
    """Every place in a JSON value (keys included) where something looks like a secret that nobody answers for."""
    found = (
        SecretFinding(sighting.rule, where, digest_of(sighting.secret))
        for where, sighting in sightings(value, path)
        if not allowed.allows(sighting)
    )
    return list(dict.fromkeys(found))


def scan_text(text: str, allowed: AllowedSecrets = NOTHING) -> Iterator[tuple[str, int]]:
    """Rule and offset of every known key format in a file's raw text, comments and headers included."""
    return ((found.rule, found.start) for found in known_formats(text) if not allowed.allows(found))


def sightings(value: object, path: str = "$") -> Iterator[tuple[str, Sighting]]:
    """Everything in a JSON value that looks like a secret, allowed or not, with its JSON path."""
    for where, text in _strings(value, path):
        for sighting in secrets_in(text):
            if not (sighting.rule == HIGH_ENTROPY and _PROTOCOL_ID.search(where)):
                yield where, sighting


def unsuspicious(bodies: Collection[str], words: Iterable[str]) -> bool:
    """Whether nothing in these JSON texts and words looks like a secret; a text they share is looked at once.

    A quick look only: where it says no, `scan` finds out what it is and where, and may find that it is nothing.
    """
    spelled = {text for body in bodies for text in _SPELLED.findall(body)}
    texts = {*json.loads(f"[{','.join(spelled)}]"), *words}
    texts |= {text for body in bodies for text in _named_members(body)}
    hidden = {text for outer in texts if _hides_words(outer) for _, text in _strings(outer, "")}
    return none_in(texts | hidden)


def scrub(text: str) -> str:
    """The text fit to be shown in an error: emptied as a whole if anything in it looks like a secret."""
    return WITHHELD if _holds_a_secret(text) else text


def _members_allowed(path: str) -> frozenset[str] | None:
    if path.endswith("/chat/completions"):
        return CHAT_MEMBERS
    return SEARCH_MEMBERS if path.endswith("/search") else None


def _strings(value: object, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
        if _hides_words(value):
            with suppress(ValueError):
                yield from ((path, text) for _, text in _strings(parse_json(value), path))
    elif isinstance(value, Mapping):
        for name, member in value.items():
            yield path, str(name)
            yield from _strings(member, _below(path, str(name)))
            if isinstance(member, str) and is_named(str(name)):
                yield _below(path, str(name)), f"{name}={member}"
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _strings(item, f"{path}[{index}]")


def _named_members(body: str) -> Iterator[str]:
    """The members of a JSON text whose name says that they hold a secret, as `_strings` puts them."""
    for name in filter(is_named, set(_NAME.findall(body))):
        for value in re.findall(rf'"{re.escape(name)}"\s*:\s*({_SPELLED.pattern})', body):
            yield f"{name}={json.loads(value)}"


def _hides_words(text: str) -> bool:
    """JSON inside a text, whose escapes would hide what it says."""
    return text[:1] in {"{", "["} and ("\\/" in text or "\\u" in text)


def _below(path: str, name: str) -> str:
    """The path one member deeper; a name that is itself a secret is not repeated."""
    return f"{path}.{name}" if name.isidentifier() and not _holds_a_secret(name) else f"{path}.*"


def _holds_a_secret(text: str) -> bool:
    return bool(secrets_in(text))

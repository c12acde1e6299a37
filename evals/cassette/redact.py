"""What may stand in a cassette: an allow-list for members and headers, and a last look for secrets.

Kept of headers: `content-type`, nothing else. Kept of a request: its JSON body without the members that carry a
credential. Kept of an answer: the members its protocol defines, which include volatile ones (`id`, `created`,
`system_fingerprint`, `response_time`): they say where an answer came from and no scorer reads them. Dropped are
server extras (timings, verbose dumps, content-filter and account data). What is left is scanned, and a single finding
blocks the write: removing a secret silently would change what was asked.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from evals.cassette.key import REDACTED_MEMBERS

CHAT_MEMBERS: Final = frozenset(
    {"id", "object", "created", "model", "choices", "usage", "system_fingerprint", "service_tier"}
)
SEARCH_MEMBERS: Final = frozenset(
    {"query", "follow_up_questions", "answer", "images", "results", "response_time", "auto_parameters"}
)


@dataclass(frozen=True)
class SecretFinding:
    """Which rule fired and where (`$.messages[0].content`); never what it saw."""

    rule: str
    json_path: str


@dataclass(frozen=True)
class _Rule:
    """`hint` is a fixed part of every match: a text without it is not searched."""

    name: str
    hint: str
    pattern: re.Pattern[str]


_RULES: Final = (
    _Rule("openai_key", "sk-", re.compile(r"(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{16,}")),
    _Rule("tavily_key", "tvly-", re.compile(r"(?<![A-Za-z0-9])tvly-[A-Za-z0-9_-]{12,}")),
    _Rule("github_token", "gh", re.compile(r"(?<![A-Za-z0-9])gh[opsur]_[A-Za-z0-9]{20,}")),
    _Rule("github_pat", "github_pat_", re.compile(r"github_pat_[A-Za-z0-9_]{20,}")),
    _Rule("aws_key", "A", re.compile(r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])")),
    _Rule("slack_token", "xox", re.compile(r"xox[abeoprs]-[A-Za-z0-9-]{10,}")),
    _Rule("google_key", "AIza", re.compile(r"AIza[A-Za-z0-9_-]{30,}")),
    # A digit is asked for so that prose ("Bearer authentication-middleware") is no finding.
    _Rule("bearer_token", "earer", re.compile(r"[Bb]earer\s+(?=[A-Za-z._~+/-]*\d)[A-Za-z0-9._~+/-]{16,}")),
    _Rule("jwt", "eyJ", re.compile(r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*")),
    _Rule("private_key", "PRIVATE KEY", re.compile(r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY")),
)
_EMAIL: Final = re.compile(r"(?<![\w.+-])[\w.+-]+@((?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,})")
_NOBODYS_DOMAIN: Final = re.compile(
    r"(?:.*\.)?(?:example\.(?:com|org|net)|[^.]*\.?(?:invalid|test|example|localhost))", re.IGNORECASE
)
_SERVICE_ACCOUNTS: Final = ("git@",)  # `git@github.com:…` is how a clone URL is spelled, nobody's address
_TOKEN: Final = re.compile(r"[A-Za-z0-9+/_=-]{24,}")
_PROTOCOL_ID: Final = re.compile(r"\.(?:tool_calls\[\d+\]\.id|tool_call_id)$")  # random by design, secret to nobody
_PUBLIC_TOKEN: Final = re.compile(r"(?:chatcmpl|call|req|fp|resp|msg|toolu|run|sha256|sha384|sha512)[-_]")


def redact_request(body: Mapping[str, Any]) -> dict[str, Any]:
    """The request body as it is stored and keyed."""
    return {name: member for name, member in body.items() if name not in REDACTED_MEMBERS}


def redact_response(path: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """The answer's body as it is stored and served; an unknown protocol's answer is kept whole."""
    allowed = _allowed(path)
    return {name: member for name, member in body.items() if allowed is None or name in allowed}


def scan(value: object, path: str = "$") -> list[SecretFinding]:
    """Every place in a JSON value (keys included) where something looks like a secret."""
    return [
        SecretFinding(rule, where)
        for where, text in _strings(value, path)
        for rule in _rules_broken(text)
        if not (rule == "high_entropy" and _PROTOCOL_ID.search(where))
    ]


def scan_text(text: str) -> Iterator[tuple[str, int]]:
    """Rule and offset of every known key format in a file's raw text, comments and headers included."""
    for rule in _RULES:
        if rule.hint in text:
            yield from ((rule.name, match.start()) for match in rule.pattern.finditer(text))


def scrub(text: str) -> str:
    """The text fit to be shown in an error: emptied as a whole if anything in it looks like a secret."""
    return "[withheld: it holds a secret]" if _rules_broken(text) else text


def _allowed(path: str) -> frozenset[str] | None:
    if path.endswith("/chat/completions"):
        return CHAT_MEMBERS
    return SEARCH_MEMBERS if path.endswith("/search") else None


def _strings(value: object, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for name, member in value.items():
            yield path, str(name)
            yield from _strings(member, _below(path, str(name)))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _strings(item, f"{path}[{index}]")


def _below(path: str, name: str) -> str:
    """The path one member deeper; a name that is itself a secret is not repeated."""
    return f"{path}.{name}" if name.isidentifier() and not _rules_broken(name) else f"{path}.*"


def _rules_broken(text: str) -> list[str]:
    found = [rule.name for rule in _RULES if rule.hint in text and rule.pattern.search(text)]
    if "@" in text and any(_is_somebody(match) for match in _EMAIL.finditer(text)):
        found.append("email")
    if not found and any(_is_random(match.group()) for match in _TOKEN.finditer(text)):
        found.append("high_entropy")
    return found


def _is_somebody(match: re.Match[str]) -> bool:
    return not (_NOBODYS_DOMAIN.fullmatch(match.group(1)) or match.group().startswith(_SERVICE_ACCOUNTS))


def _is_random(token: str) -> bool:
    """Random base-62/64 text changes between lower, upper and digit at 62 % of its steps, a name at about 30 %.

    Hex digests and UUIDs have no mixed case and pass; so do the public id prefixes of the protocols.
    """
    if _PUBLIC_TOKEN.match(token):
        return False
    kinds = [_kind(character) for character in token]
    steps = [(left, right) for left, right in pairwise(kinds) if left and right]
    changes = sum(left != right for left, right in steps)
    return {"lower", "upper", "digit"} <= set(kinds) and len(set(token)) >= 12 and changes >= 0.4 * len(steps)


def _kind(character: str) -> str:
    if character.isdigit():
        return "digit"
    if character.isalpha():
        return "lower" if character.islower() else "upper"
    return ""

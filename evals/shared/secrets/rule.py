"""Rules of the secret scanner: what one is, and the secrets that this process holds in its environment."""

import base64
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final
from urllib.parse import quote

Match = re.Match[str]
Holds = Callable[[Match], bool]

_PLACEHOLDER: Final = re.compile(
    r"<.*>|(?:user(?:name)?|pass(?:word|wd)?|pwd|pw|secret|token|key|api[-_]?key|string|none|null|undefined)(?:here)?|\[.*\]|\{.*\}|\$.*|%[(s].*|[*x#.…_-]+|your\b.*"
    r"|(?:my|some|the|dummy|fake|example|test|changeme|redacted|masked|hidden)(?:[-_][a-z]+)*",
    re.IGNORECASE | re.DOTALL,
)
_FILLED: Final = re.compile(r"([xX*0.•#_-])\1{7}|(?i:your|placeholder|redacted|change[-_]?me|replace[-_]?(?:me|with))")
"""What fills a place in the middle of a value as well."""
_START: Final = re.compile(r"(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4})")
"""Where a word begins, also in JSON inside a text: in `\\nghp_…` the n is a line break."""
_RUN: Final = re.compile(r"[A-Za-z0-9]{16,}")


@dataclass(frozen=True)
class Rule:
    """`hints` are fixed parts of which every match holds one; `holds` has the last word on a match.

    `spans` says whether that may depend on more than one line.
    What the group `quoted` or `value` holds is the secret; the whole match where there is no such group.
    """

    name: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    holds: Holds = lambda _: True
    spans: bool = False

    def matches(self, text: str) -> Iterator[Match]:
        """Every match in a text that holds one of the hints."""
        return filter(self.holds, self.pattern.finditer(text))


def secret_of(match: Match) -> tuple[int, str]:
    """Offset and text of the secret in a match."""
    groups = match.re.groupindex
    group = next((name for name in ("quoted", "value") if name in groups and match[name] is not None), 0)
    return match.start(group), match[group]


def rule(name: str, hints: str, pattern: str, holds: Holds = lambda _: True, *, spans: bool = False) -> Rule:
    """A rule of its own pattern; `hints` are parted by blanks."""
    return Rule(name, tuple(hints.split()), re.compile(pattern), holds, spans)


def prefixed(name: str, prefixes: str, rest: str) -> Rule:
    """A key that begins with one of some fixed prefixes, at the start of a word or too random to be the end of one."""
    starts = "|".join(map(re.escape, prefixes.split()))
    return Rule(name, tuple(prefixes.split()), re.compile(rf"(?:{starts}){rest}"), _is_no_end_of_a_word)


def is_placeholder(value: str) -> bool:
    """Whether a value only says where one belongs: `<password>`, `$TOKEN`, `***`, `your-key`, `xxxxxxxxxxxx`."""
    return bool(_PLACEHOLDER.fullmatch(value) or _FILLED.search(value))


def changes(text: str) -> tuple[int, int]:
    """How often neighbours are of different kinds, and how many neighbours there are."""
    steps = [(left, right) for left, right in pairwise(map(_kind, text)) if left and right]
    return sum(left != right for left, right in steps), len(steps)


def _is_no_end_of_a_word(match: Match) -> bool:
    """`xghp_…` is a token that something was glued to; `task-runner-…` is a word with `sk-` in it."""
    if _FILLED.search(match.group()):
        return False
    if _START.match(match.string, match.start()):
        return True
    runs = _RUN.findall(match.group())
    return any(changes(run)[0] >= 3 and (len(run) >= 30 or any(map(str.isdigit, run))) for run in runs)


def _kind(character: str) -> str:
    """Lower, upper or digit; empty for anything else."""
    if character.isdigit():
        return "digit"
    if character.isalpha():
        return "lower" if character.islower() else "upper"
    return ""


MASK: Final = "[key withheld]"
_SHORTEST = 8  # a dummy key of a local server ("none", "local") is no secret, and would be found everywhere
_spellings: dict[str, None] = {}


def hold(*keys: str) -> None:
    """From now on each of these keys is a secret wherever it is seen; empty and very short ones are left out."""
    for key in keys:
        if len(key) >= _SHORTEST:
            _spellings.update(dict.fromkeys(_spelled(key)))


def hold_environment() -> None:
    """Hold the keys in this process's environment: the values of all variables named …_KEY or …_TOKEN."""
    hold(*(value for name, value in os.environ.items() if name.endswith(("_KEY", "_TOKEN"))))


def masked(text: str) -> str:
    """The text with every held key replaced: for what is printed or logged, since a host may echo what it was sent."""
    for spelling in sorted(_spellings, key=len, reverse=True):
        text = text.replace(spelling, MASK)
    return text


def held_in(text: str) -> Iterator[tuple[int, str]]:
    """Offset and spelling of every key in the text."""
    return ((place, each) for each in _spellings if (place := text.find(each)) >= 0)


def is_holding() -> bool:
    """Whether this process holds any key."""
    return bool(_spellings)


def release() -> None:
    """Forget all keys."""
    _spellings.clear()


def _spelled(key: str) -> Iterator[str]:
    """As it is, backwards, percent-encoded, in hex, and in base64 at each of the three places it can begin there."""
    raw = key.encode("utf-8", "surrogateescape")
    yield key
    yield key[::-1]
    yield quote(key, safe="")
    yield "".join(f"%{byte:02X}" for byte in raw)
    yield raw.hex()
    yield raw.hex().upper()
    for shift in range(3):
        whole = base64.b64encode(b"\0" * shift + raw).decode().rstrip("=")
        inner = whole[(0, 2, 3)[shift] : len(whole) - (1 if (len(raw) + shift) % 3 else 0)]
        yield inner
        yield inner.replace("+", "-").replace("/", "_")

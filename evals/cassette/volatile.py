"""Text that differs between two runs of the same thing: a request that holds some of it is never on tape again."""

import re
from typing import Final

# In order: a date with its time is one thing, and a path below a temporary folder may hold any of the others.
PATTERNS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("temporary path", re.compile(r"(?:/private)?/(?:var/)?tmp/[^\s\"'`,;)]+|/var/folders/[^\s\"'`,;)]+")),
    ("temporary path", re.compile(r"(?i)\b[a-z]:\\[^\s\"']*\\temp\\[^\s\"'`,;)]+")),
    ("uuid", re.compile(r"(?i)\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b")),
    ("date or time", re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?Z|[+-]\d\d:?\d\d)?)?")),
    ("date or time", re.compile(r"\b\d{1,2}:\d\d:\d\d(?:[.,]\d+)?\b")),
    ("Unix time", re.compile(r"\b1[5-9]\d{8}(?:\d{3}|\.\d+)?\b")),
    ("memory address", re.compile(r"\b0x[0-9a-fA-F]{6,16}\b")),
)


def volatile_kinds(recorded: str, asked: str) -> tuple[str, ...]:
    """What two texts differ in, where that is nothing but volatile text; empty if they are equal, or differ in more."""
    if recorded == asked:
        return ()
    kinds = []
    for name, pattern in PATTERNS:
        if pattern.findall(recorded) != pattern.findall(asked):
            kinds.append(name)
        recorded, asked = (pattern.sub(f"<{name}>", text) for text in (recorded, asked))
    return tuple(dict.fromkeys(kinds)) if recorded == asked else ()

"""YAML that must not be parsed: nested until a parser's stack ends, or unfolding by aliases without end.

The exact look costs as much as parsing, so a cheap one says first whether there is any need: nearly never.
"""

import re
from typing import Final

import yaml

DEPTH: Final = 100
"""Levels; nothing this package reads has as many as 20."""
NODES: Final = 100_000
"""Of a document with aliases, once they are unfolded."""
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_BUT_BRACKETS: Final = bytes(set(range(256)) - set(b"[]{}"))
_OPENED: Final = re.compile(rb"[\[{]{%d}" % DEPTH)
_IN_BLOCKS: Final = ("- " * DEPTH, "? " * DEPTH, "\n" + " " * DEPTH)
_ALIAS: Final = re.compile(r"(?:^|[\s,\[{:-])\*[^\s*]")


def beyond_bounds(text: str, *, aliases: bool = True) -> tuple[int, str] | None:
    """The line at which a document goes too far, and how; None if it does not. Whether it is YAML is not said.

    Without `aliases` only its depth is looked at.
    """
    if _may_be_deep(text) or (aliases and _ALIAS.search(text)):
        try:
            return _looked_at(text)
        except yaml.YAMLError:
            return None  # the parser proper says what is wrong, and where
    return None


def _may_be_deep(text: str) -> bool:
    """Whether that many brackets open, or indents stand, one upon the other; those in texts count as well."""
    if any(levels in text for levels in _IN_BLOCKS):
        return True
    brackets = text.encode(errors="replace").translate(None, delete=_BUT_BRACKETS)
    return bool(_OPENED.search(brackets.replace(b"[]", b"").replace(b"{}", b"")))


def _looked_at(text: str) -> tuple[int, str] | None:
    """Event by event, without recursion. An open collection is its anchor and the nodes in it so far."""
    opened: list[tuple[str | None, int]] = []
    known: dict[str, int] = {}
    total = 0
    for event in yaml.parse(text, Loader=_LOADER):
        line = event.start_mark.line + 1 if event.start_mark else 1
        if isinstance(event, yaml.CollectionStartEvent):
            opened.append((event.anchor, total))
            total += 1
            if len(opened) > DEPTH:
                return line, f"nested more than {DEPTH} levels deep"
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = opened.pop()
            known |= {anchor: total - before} if anchor else {}
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in known:
                return line, f"the alias *{event.anchor} stands for nothing that ends before it"
            total += known[event.anchor]
        elif isinstance(event, yaml.ScalarEvent):
            known |= {event.anchor: 1} if event.anchor else {}
            total += 1
        if known and total > NODES:
            return line, f"more than {NODES:,} values once its aliases are unfolded"
    return None

"""Where two JSON bodies part: every place as a path, and inside texts line by line."""

import json
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import islice, takewhile, zip_longest
from typing import Final, Literal

from evals.cassette.volatile import volatile_kinds
from evals.models.nearest import Difference

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

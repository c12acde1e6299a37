"""From a difference between two requests back to the lines of the file its text is written in."""

import re
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Final

from evals.cassette.differences import MAX_CHARS
from evals.models.nearest import Difference

_PLACEHOLDER: Final = re.compile(r"(?<!\{)\{[a-z_]+\}(?!\})")
_LITERAL: Final = 4  # characters a line with a placeholder needs besides it to be told from any other line


def places_of(difference: Difference, lines: Sequence[str], recorded: Collection[str] = ()) -> tuple[int, ...]:
    """The numbers, from 1, of the lines that what was asked is written in; empty if it is not from this file.

    Lines of the file that some of the `recorded` lines are written in too are left out: they are no news. Lines that
    were taken out have no place of their own: theirs is the line that now follows.
    """
    asked = [line[:MAX_CHARS] for line in difference.asked.splitlines() if line.strip()]
    if not asked:
        return (
            _gap(difference, lines) if not recorded or (difference.after.strip() and difference.before.strip()) else ()
        )
    found: list[int] = []
    for line in asked:
        numbers = [
            number
            for number, written in enumerate(lines, 1)
            if is_written(line, written) and not any(is_written(other, written) for other in recorded)
        ]
        if numbers:
            beyond = found[-1] if found else 0
            found.append(next((number for number in numbers if number > beyond), numbers[0]))
    return tuple(sorted(set(found)))


def is_written(text: str, line: str) -> bool:
    """Whether a line of a request is this line of a file, its placeholders filled in."""
    parts = [part.replace("{{", "{").replace("}}", "}") for part in _PLACEHOLDER.split(line)]
    if len(parts) == 1:
        return text[:MAX_CHARS].rstrip() in (parts[0][:MAX_CHARS].rstrip(), line[:MAX_CHARS].rstrip())
    if sum(len(part.strip()) for part in parts) < _LITERAL:
        return False
    return re.fullmatch(".*".join(map(re.escape, parts)), text) is not None


def ranges(numbers: Sequence[int]) -> str:
    """Line numbers as people write them: `3, 7-9`."""
    breaks = [0, *(i for i, (a, b) in enumerate(pairwise(numbers), 1) if b != a + 1), len(numbers)]
    runs = [numbers[a:b] for a, b in pairwise(breaks)]
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs if run)


def _gap(difference: Difference, lines: Sequence[str]) -> tuple[int, ...]:
    """Where something was taken out: between two lines that are neighbours in the file now, or at its first or last."""
    if not (difference.after + difference.before).strip():
        return ()  # between two empty lines is everywhere
    padded = ["", *lines, ""]
    for number, (above, below) in enumerate(pairwise(padded), 1):
        if _is_edge(difference.after, above) and _is_edge(difference.before, below):
            return (min(number, len(lines)),)
    return ()


def _is_edge(text: str, line: str) -> bool:
    """Whether a shared line beside the gap is this one; where a message begins or ends, the file has a mark."""
    return is_written(text, line) if text.strip() else not line.strip() or line.startswith(("---", "<!--"))

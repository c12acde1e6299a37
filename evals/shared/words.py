"""Counts and lists in words."""

from collections.abc import Sequence


def counted(number: int, noun: str) -> str:
    """`1 case`, `2 cases`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def some(names: Sequence[str], shown: int = 3) -> str:
    """The first few names; the others are counted."""
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more

"""What a layout can do with a value: `{{ value | name("argument") }}`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date
from typing import Any

from quillmark.escape import Safe, escape, safe_url
from quillmark.toc import slugify

MONTHS = "January February March April May June July August September October November December".split()


def join(values: Iterable[Any] | None, separator: str = ", ") -> str:
    """The items one after the other. The separator of a layout may hold markup; the items may not."""
    if isinstance(separator, Safe):
        return Safe(separator.join(escape(value) for value in values or ()))
    return separator.join(str(value) for value in values or ())


def default(value: Any, fallback: Any) -> Any:
    """`fallback` where there is nothing; zero and false are something."""
    return fallback if value is None or value == "" else value


def format_date(value: date | None, pattern: str = "%Y-%m-%d") -> str:
    """A date by a strftime pattern; `%B` is English whatever the locale of the machine."""
    if value is None:
        return ""
    return value.strftime(pattern.replace("%B", MONTHS[value.month - 1]))


def truncate(value: Any, length: int = 80, end: str = "…") -> str:
    """At most `length` characters, cut between words if there is a space to cut at."""
    text = str(value)
    if len(text) <= length:
        return text
    head = text[: max(0, length - len(end))]
    return (head.rsplit(" ", 1)[0] if " " in head else head) + str(end)


def take(values: Iterable[Any], count: int) -> list[Any]:
    """The first `count` items."""
    return list(values)[:count]


FILTERS: dict[str, Callable[..., Any]] = {
    "count": lambda values: len(values or ()),
    "date": format_date,
    "default": default,
    "first": take,
    "join": join,
    "lower": lambda value: str(value).lower(),
    "safe": lambda value: Safe(value),
    "slug": slugify,
    "truncate": truncate,
    "upper": lambda value: str(value).upper(),
    "url": lambda value: safe_url(str(value)),
}

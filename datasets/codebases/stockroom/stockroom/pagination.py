"""Keyset pagination: opaque cursors and pages."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from stockroom.errors import ValidationError

T = TypeVar("T")
DEFAULT_LIMIT = 50


@dataclass(frozen=True)
class Cursor:
    """Where the previous page ended: the sort key of its last row, then its id."""

    key: str
    row_id: int

    def encode(self) -> str:
        """The cursor as the client sees it."""
        raw = json.dumps([self.key, self.row_id], separators=(",", ":")).encode("utf-8")
        return base64.urlsafe_b64encode(raw).rstrip(b"=").decode("ascii")

    @classmethod
    def decode(cls, text: str) -> Cursor:
        """Read a client's cursor. Raises ValidationError if it was not made by `encode`."""
        try:
            key, row_id = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        except (binascii.Error, ValueError, TypeError) as error:
            raise ValidationError("cursor is not valid", "bad_cursor") from error
        if not isinstance(key, str) or not isinstance(row_id, int):
            raise ValidationError("cursor is not valid", "bad_cursor")
        return cls(key, row_id)


@dataclass(frozen=True)
class Page(Generic[T]):
    """One page and the cursor of the next; `next` is None on the last page."""

    rows: tuple[T, ...]
    next: Cursor | None


def page_of(rows: Sequence[T], limit: int, cursor_of: Callable[[T], Cursor]) -> Page[T]:
    """Cut a page out of `rows`, which were fetched with one row more than `limit`."""
    kept = tuple(rows[:limit])
    more = len(rows) > limit
    return Page(kept, cursor_of(kept[-1]) if more and kept else None)


def parse_limit(raw: str | None, maximum: int) -> int:
    """The `limit` of a query string, within 1..maximum."""
    if raw is None or raw == "":
        return min(DEFAULT_LIMIT, maximum)
    try:
        limit = int(raw)
    except ValueError:
        raise ValidationError("limit must be a whole number") from None
    if limit < 1:
        raise ValidationError("limit must be at least 1")
    return min(limit, maximum)

"""The book: a folder with one journal file per month, and what closing leaves beside them.

<book>/2026/2026-03.journal     the bookings
<book>/2026/2026-03.closed      only of closed months: digest of the journal, then balances at the month's end
"""

import hashlib
import logging
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from ledgerline.entries import Transaction
from ledgerline.errors import ClosedMonthError, LedgerlineError
from ledgerline.journal_reader import read_journal
from ledgerline.journal_writer import format_journal
from ledgerline.periods import Month

log = logging.getLogger(__name__)


class Book:
    """The journal files below one folder."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def months(self) -> list[Month]:
        """The months that have a journal, in order."""
        names = (path.stem for path in self._root.glob("[0-9]*/*.journal"))
        return sorted(Month.parse(name) for name in names)

    def closed_months(self) -> list[Month]:
        """The months that are closed, in order."""
        names = (path.stem for path in self._root.glob("[0-9]*/*.closed"))
        return sorted(Month.parse(name) for name in names)

    def journal_path(self, month: Month) -> Path:
        """The journal file of a month; need not exist."""
        return self._root / f"{month.year:04d}" / f"{month}.journal"

    def closed_path(self, month: Month) -> Path:
        """What closing a month leaves; need not exist."""
        return self.journal_path(month).with_suffix(".closed")

    def transactions(self, first: Month | None = None, last: Month | None = None) -> Iterator[Transaction]:
        """All bookings of some months, or of all, by month. Raises JournalError."""
        for month in self.months():
            if (first is None or first <= month) and (last is None or month <= last):
                yield from self.of_month(month)

    def of_month(self, month: Month) -> list[Transaction]:
        """The bookings of one month. Raises JournalError, and LedgerlineError for a day of another month."""
        found = read_journal(self.journal_path(month))
        stray = next((transaction for transaction in found if transaction.day not in month), None)
        if stray is not None:
            raise LedgerlineError(f"{self.journal_path(month)}: {stray.day} does not belong into {month}")
        return found

    def ids(self) -> set[str]:
        """The ids of all bookings that were imported."""
        return {transaction.id for transaction in self.transactions() if transaction.id}

    def add(self, transactions: Iterable[Transaction]) -> None:
        """Write new bookings into their months. Nothing is written if one of them lies in closed time."""
        new: defaultdict[Month, list[Transaction]] = defaultdict(list)
        for transaction in transactions:
            new[Month.of(transaction.day)].append(transaction)
        closed = self.closed_months()[-1:]
        for month in sorted(new):
            if closed and month <= closed[0]:
                raise ClosedMonthError(f"{closed[0]} is closed; {len(new[month])} bookings would go to {month}")
        for month in sorted(new):
            self._write(month, [*self.of_month(month), *new[month]])
            log.info("%s: %d bookings added", month, len(new[month]))

    def digest(self, month: Month) -> str:
        """What tells whether the journal of a month was changed."""
        path = self.journal_path(month)
        return hashlib.sha256(path.read_bytes() if path.exists() else b"").hexdigest()

    def _write(self, month: Month, transactions: list[Transaction]) -> None:
        write_whole(self.journal_path(month), format_journal(transactions))


def write_whole(path: Path, text: str) -> None:
    """Write a file so that a reader finds the old one or the new one, never half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(".new")
    with scratch.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    scratch.replace(path)

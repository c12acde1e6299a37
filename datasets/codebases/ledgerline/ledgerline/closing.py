"""Closing months: what is closed is not changed any more, and one can tell if it was."""

import logging
from collections.abc import Iterator

from ledgerline.balances import balances_at, format_snapshot, snapshot_digest
from ledgerline.book import Book, write_whole
from ledgerline.errors import ClosingError, LedgerlineError
from ledgerline.periods import Month

log = logging.getLogger(__name__)


def close_month(book: Book, month: Month) -> None:
    """Close a month. Raises ClosingError if it is not ready."""
    for reason in _obstacles(book, month):
        raise ClosingError(f"{month} cannot be closed: {reason}")
    balances = balances_at(book, month.last)
    write_whole(book.closed_path(month), format_snapshot(balances, book.digest(month)))
    log.info("%s closed", month)


def reopen_month(book: Book, month: Month) -> None:
    """Open a closed month again; the months after it must be open. Raises ClosingError."""
    closed = book.closed_months()
    if month not in closed:
        raise ClosingError(f"{month} is not closed")
    if closed[-1] != month:
        raise ClosingError(f"{month} cannot be opened while {closed[-1]} is closed")
    book.closed_path(month).unlink()
    log.info("%s opened again", month)


def check_book(book: Book) -> list[str]:
    """What is wrong with the book, in words; empty if nothing is."""
    problems = [
        f"{month} was changed after it was closed"
        for month in book.closed_months()
        if snapshot_digest(book.closed_path(month)) != book.digest(month)
    ]
    seen: set[str] = set()
    for month in book.months():
        try:
            found = book.of_month(month)
        except LedgerlineError as error:
            problems.append(str(error))
            continue
        for identity in (transaction.id for transaction in found if transaction.id):
            if identity in seen:
                problems.append(f"{month}: the id {identity} is there twice")
            seen.add(identity)
    return problems


def _obstacles(book: Book, month: Month) -> Iterator[str]:
    if book.closed_path(month).exists():
        yield "it is closed already"
    earlier = [other for other in book.months() if other < month and not book.closed_path(other).exists()]
    if earlier:
        yield f"{earlier[0]} is still open"
    unsorted = sum(not transaction.is_sorted for transaction in book.of_month(month))
    if unsorted:
        yield f"{unsorted} bookings are flagged with !"

"""From statements to bookings: recognise what is known, sort the rest, write it down."""

import hashlib
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ledgerline.book import Book
from ledgerline.config import BankProfile, Settings
from ledgerline.entries import Posting, Transaction
from ledgerline.rules import RuleBook
from ledgerline.statements import StatementLine, read_statement

log = logging.getLogger(__name__)

ID_LENGTH = 16


@dataclass(frozen=True)
class ImportResult:
    """What became of the lines of some statements."""

    read: int
    booked: tuple[Transaction, ...]

    @property
    def known(self) -> int:
        """Lines that were in the book already."""
        return self.read - len(self.booked)

    @property
    def unsorted(self) -> int:
        """Bookings no rule had an account for."""
        return sum(not transaction.is_sorted for transaction in self.booked)


class Importer:
    """Books statements of one bank."""

    def __init__(self, book: Book, rules: RuleBook, settings: Settings) -> None:
        self._book = book
        self._rules = rules
        self._settings = settings

    def run(self, bank: BankProfile, files: Sequence[Path], dry_run: bool = False) -> ImportResult:
        """Import files; either everything new in them is booked or nothing. Raises LedgerlineError."""
        zone = self._settings.zone()
        known, read = self._book.ids(), 0
        new: list[Transaction] = []
        for path in files:
            lines = read_statement(path, bank, zone)
            read += len(lines)
            for identity, line in identified(bank.account, lines):
                if identity not in known:
                    known.add(identity)
                    new.append(self._booking(bank, line).with_id(identity))
        if not dry_run:
            self._book.add(new)
        log.info("%s: %d lines read, %d booked", bank.name, read, len(new))
        return ImportResult(read, tuple(new))

    def _booking(self, bank: BankProfile, line: StatementLine) -> Transaction:
        """The transaction of a line: where the money went first, the bank's own account last."""
        sorting = self._rules.sort(line)
        own = Posting(bank.account, line.money)
        return Transaction(line.day, sorting.payee, line.memo, (*sorting.postings, own), sorting.flag)


def identified(account: str, lines: Iterable[StatementLine]) -> Iterator[tuple[str, StatementLine]]:
    """Every line of one statement with its id, the same in every statement that contains the line.

    Equal lines are numbered, so that each of them has an id of its own.
    """
    seen: Counter[tuple[str, ...]] = Counter()
    for line in lines:
        features = _features(account, line)
        seen[features] += 1
        yield _digest((*features, str(seen[features]))), line


def _features(account: str, line: StatementLine) -> tuple[str, ...]:
    """What a line is recognised by."""
    return account, line.day.isoformat(), str(line.money), line.payee, line.memo, line.reference


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:ID_LENGTH]

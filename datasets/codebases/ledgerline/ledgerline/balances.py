"""What accounts hold: sums of postings, started from the latest snapshot of a closed month."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path

from ledgerline.book import Book
from ledgerline.entries import Transaction
from ledgerline.errors import JournalError
from ledgerline.money import Money, parse_amount
from ledgerline.periods import Month

Key = tuple[str, str]  # account and currency


class Balances:
    """Amounts by account and currency."""

    def __init__(self, amounts: Mapping[Key, Decimal] | None = None) -> None:
        self._amounts: defaultdict[Key, Decimal] = defaultdict(Decimal, amounts or {})

    def add(self, transactions: Iterable[Transaction]) -> None:
        """Book transactions on top."""
        for transaction in transactions:
            for posting in transaction.postings:
                self._amounts[posting.account, posting.money.currency] += posting.money.amount

    def rows(self) -> list[tuple[str, Money]]:
        """Account and amount, in order of accounts; what is zero is left out."""
        return [
            (account, Money.of(amount, currency))
            for (account, currency), amount in sorted(self._amounts.items())
            if amount
        ]


def balances_at(book: Book, day: date | None) -> Balances:
    """Balances at the end of a day, or of the whole book.

    Months up to the latest closed one that ends by then are not read: its snapshot has their sums.
    """
    closed = [month for month in book.closed_months() if day is None or month.last <= day]
    start = closed[-1] if closed else None
    balances = read_snapshot(book.closed_path(start)) if start else Balances()
    first = start.next if start else None
    last = Month.of(day) if day else None
    balances.add(transaction for transaction in book.transactions(first, last) if day is None or transaction.day <= day)
    return balances


def format_snapshot(balances: Balances, digest: str) -> str:
    """The text that is kept of a closed month."""
    rows = [f"{account}  {money}" for account, money in balances.rows()]
    return "\n".join([digest, *rows]) + "\n"


def read_snapshot(path: Path) -> Balances:
    """The balances in a snapshot. Raises JournalError."""
    amounts: dict[Key, Decimal] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()[1:], start=2):
        account, gap, money = line.rpartition("  ")
        amount, _, currency = money.partition(" ")
        if not gap or not currency:
            raise JournalError(path, number, "expected an account and an amount")
        amounts[account, currency] = parse_amount(amount)
    return Balances(amounts)


def snapshot_digest(path: Path) -> str:
    """The digest of the journal as it was when its month was closed."""
    return path.read_text(encoding="utf-8").partition("\n")[0]

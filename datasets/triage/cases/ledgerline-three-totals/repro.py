"""A balance at the end of a day has that day's bookings, and the register of an account has no other account's."""

import tempfile
from datetime import date
from pathlib import Path

from ledgerline.balances import balances_at
from ledgerline.book import Book
from ledgerline.entries import Posting, Transaction
from ledgerline.money import Money
from ledgerline.reports import register_table

GIRO, YOUTH = "Assets:Bank:Giro", "Assets:Bank:Giro Youth"
LAST = date(2026, 3, 31)


def booking(day: date, account: str, other: str, amount: str) -> Transaction:
    """Money that comes into an account, or leaves it."""
    money = Money.of(amount, "EUR")
    return Transaction(day, "X", "", (Posting(account, money), Posting(other, -money)))


with tempfile.TemporaryDirectory() as folder:
    book = Book(Path(folder))
    book.add(
        [
            booking(date(2026, 3, 5), GIRO, "Income:Members", "96.00"),
            booking(date(2026, 3, 17), YOUTH, "Income:Grants", "500.00"),
            booking(LAST, GIRO, "Expenses:Bank", "-7.50"),
        ]
    )
    totals = {
        "balance": str(dict(balances_at(book, LAST).rows())[GIRO]),
        "register": register_table(book.transactions(), GIRO).rows[-1][2],
    }

assert totals == {"balance": "88.50 EUR", "register": "88.50 EUR"}, totals

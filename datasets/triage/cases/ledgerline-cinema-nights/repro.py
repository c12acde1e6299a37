"""Every line of a statement is booked, also if two of them are alike."""

import tempfile
from pathlib import Path

from ledgerline.balances import balances_at
from ledgerline.book import Book
from ledgerline.config import BankProfile, Settings
from ledgerline.importing import Importer
from ledgerline.rules import RuleBook

LINE = "04.09.2026;Print shop;Poster;M-77;-14,50\n"
COLUMNS = {"date": "D", "amount": "A", "payee": "P", "memo": "M", "reference": "R"}
BANK = BankProfile("giro", "Assets:Giro", COLUMNS)

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "s.csv"
    path.write_text("D;P;M;R;A\n" + 2 * LINE, encoding="utf-8")
    book = Book(Path(folder) / "book")
    importer = Importer(book, RuleBook((), "Expenses:Unknown"), Settings())
    first, again = importer.run(BANK, [path]), importer.run(BANK, [path])
    held = {account: str(money) for account, money in balances_at(book, None).rows()}
assert (len(first.booked), len(again.booked)) == (2, 0), (len(first.booked), len(again.booked))
assert held["Assets:Giro"] == "-29.00 EUR", held

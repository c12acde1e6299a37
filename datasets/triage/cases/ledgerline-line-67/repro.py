"""What was imported can be read back, whatever the bank puts into its texts."""

import tempfile
from pathlib import Path

from ledgerline.book import Book
from ledgerline.config import BankProfile, Settings
from ledgerline.errors import JournalError
from ledgerline.importing import Importer
from ledgerline.rules import RuleBook

STATEMENT = 'D;P;M;A\r\n14.10.2026;Municipal works;"Advance October\r\nContract 4411";-84,00\r\n'
BANK = BankProfile("giro", "Assets:Giro", {"date": "D", "amount": "A", "payee": "P", "memo": "M"})

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "s.csv"
    path.write_bytes(STATEMENT.encode())
    book = Book(Path(folder) / "book")
    Importer(book, RuleBook((), "Expenses:Unknown"), Settings()).run(BANK, [path])
    try:
        memos = [transaction.memo for transaction in book.transactions()]
    except JournalError as error:
        raise AssertionError(f"the book cannot be read after an import: {error.args[0].rpartition(':')[2]}") from None
assert memos == ["Advance October Contract 4411"], memos

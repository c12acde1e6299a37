"""A book in a folder of its own, with one bank and a few rules."""

from __future__ import annotations

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

from ledgerline.book import Book
from ledgerline.cli import main

CONFIG = """
[ledgerline]
timezone = "Europe/Vienna"

[banks.giro]
account = "Assets:Bank:Giro"
columns = { date = "Day", amount = "Amount", payee = "Name", memo = "Purpose", reference = "Reference" }

[banks.card]
account = "Liabilities:Card"
decimal = "."
delimiter = ","
dates = "timestamp"
columns = { date = "time", amount = "amount", payee = "merchant", currency = "currency" }
"""

RULES = """
[[rule]]
match = "grocer"
account = "Expenses:Food"

[[rule]]
match = "city phone"
field = "payee"
split = { "Expenses:Phone" = 0.7, "Equity:Private" = 0.3 }

[[rule]]
match = "fee"
min = "0.01"
account = "Income:Fees"
rename = "Member"
"""

RATES = "date,currency,rate\n2026-03-02,USD,0.90\n2026-03-09,USD,0.92\n"
HEADER = "Day;Name;Purpose;Reference;Amount\n"


class World(unittest.TestCase):
    """Base of the tests that run commands."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.book = Book(self.root / "book")
        for name, text in (("ledgerline.toml", CONFIG), ("rules.toml", RULES), ("rates.csv", RATES)):
            self.write(name, text)

    def write(self, name: str, text: str, encoding: str = "utf-8") -> Path:
        path = self.root / name
        path.write_bytes(text.encode(encoding))
        return path

    def run_cli(self, *arguments: str) -> tuple[int, str]:
        """Exit code, and everything that was printed."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            code = main(["--config", str(self.root / "ledgerline.toml"), *arguments], environ={})
        return code, printed.getvalue()

    def giro(self, *rows: str) -> str:
        """Import a statement of the current account; returns what was printed."""
        return self.run_cli("import", "giro", str(self.write("giro.csv", HEADER + "\n".join(rows) + "\n")))[1]

    def held(self) -> dict[str, str]:
        """What the accounts hold at the end of the book."""
        lines = self.run_cli("balance")[1].splitlines()[1:-2]
        return {line.split("  ")[0]: line.split("  ", 1)[1].split("EUR")[0].strip() for line in lines}

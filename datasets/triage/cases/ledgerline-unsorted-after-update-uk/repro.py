"""Rules take no notice of case and know where a word ends, in any script."""

import tempfile
from datetime import date
from pathlib import Path

from ledgerline.money import Money
from ledgerline.rules import load_rules
from ledgerline.statements import StatementLine

RULES = """
[[rule]]
match = 'аптека'
account = "Expenses:Medicine"

[[rule]]
match = '\\bподаток\\b'
account = "Expenses:Taxes"
"""


def line(payee: str, memo: str) -> StatementLine:
    return StatementLine(date(2026, 11, 3), Money.of(-1, "UAH"), payee, memo, "", 2)


with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "rules.toml"
    path.write_text(RULES, encoding="utf-8")
    rules = load_rules(path, "Expenses:Unknown")
lines = (line("АПТЕКА №12", ""), line("УДКСУ", "військовий податок 10.2026"))
accounts = [rules.sort(each).postings[0].account for each in lines]
assert accounts == ["Expenses:Medicine", "Expenses:Taxes"], accounts

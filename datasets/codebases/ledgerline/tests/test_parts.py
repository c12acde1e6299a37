"""Money, months, rates, statements: the parts that need no book."""

import tempfile
import unittest
from datetime import date
from decimal import Decimal
from pathlib import Path

from ledgerline.config import BankProfile, find_config, load_settings
from ledgerline.entries import Posting, Transaction
from ledgerline.errors import (
    AmountError,
    ConfigError,
    CurrencyMismatchError,
    LedgerlineError,
    RateError,
    UnbalancedError,
)
from ledgerline.money import Money, parse_amount
from ledgerline.periods import Month
from ledgerline.rates import RateTable
from ledgerline.statements import read_statement


class Amounts(unittest.TestCase):
    def test_written_by_banks(self) -> None:
        for text, mark, number in (
            ("1.234,50", ",", "1234.50"),
            ("1,234.50", ".", "1234.50"),
            ("12,00-", ",", "-12.00"),
            ("\u2212 7,10", ",", "-7.10"),
            ("1\u00a0000", ",", "1000"),
            ("1'234.50", ".", "1234.50"),
        ):
            with self.subTest(text):
                self.assertEqual(parse_amount(text, mark), Decimal(number))

    def test_no_amounts(self) -> None:
        for text in ("", "twelve", "nan", "1,2,3 EUR"):
            with self.subTest(text), self.assertRaises(AmountError):
                parse_amount(text, ",")

    def test_rounding_follows_the_currency(self) -> None:
        self.assertEqual(
            [str(Money.of("1.2345", code)) for code in ("EUR", "JPY", "KWD")], ["1.23 EUR", "1 JPY", "1.234 KWD"]
        )

    def test_currencies_do_not_mix(self) -> None:
        with self.assertRaises(CurrencyMismatchError):
            Money.of(1, "EUR") + Money.of(1, "USD")

    def test_parts_add_up(self) -> None:
        for amount in ("10.00", "-10.00", "0.01", "0.00"):
            with self.subTest(amount):
                parts = Money.of(amount, "EUR").split([Decimal(1)] * 3)
                self.assertEqual(sum(part.amount for part in parts), Decimal(amount))
        self.assertEqual(
            [str(part) for part in Money.of(10, "EUR").split([Decimal(1)] * 3)], ["3.34 EUR", "3.33 EUR", "3.33 EUR"]
        )


class Months(unittest.TestCase):
    def test_ends(self) -> None:
        self.assertEqual(Month.parse("2026-02").last, date(2026, 2, 28))
        self.assertEqual(Month(2026, 12).next, Month(2027, 1))

    def test_nonsense(self) -> None:
        with self.assertRaises(LedgerlineError):
            Month.parse("2026-13")


class Entries(unittest.TestCase):
    def test_postings_balance(self) -> None:
        with self.assertRaises(UnbalancedError):
            Transaction(date(2026, 3, 1), "X", "", (Posting("Assets:Cash", Money.of(1, "EUR")),))


class Rates(unittest.TestCase):
    def setUp(self) -> None:
        self.rates = RateTable(
            "EUR", [(date(2026, 3, 9), "USD", Decimal("0.92")), (date(2026, 3, 2), "USD", Decimal("0.9"))]
        )

    def test_holds_until_the_next(self) -> None:
        self.assertEqual(self.rates.convert(Money.of(100, "USD"), date(2026, 3, 8)), Money.of(90, "EUR"))
        self.assertEqual(self.rates.convert(Money.of(100, "USD"), date(2026, 4, 1)), Money.of(92, "EUR"))

    def test_too_early(self) -> None:
        with self.assertRaises(RateError):
            self.rates.on("USD", date(2026, 3, 1))

    def test_base_currency(self) -> None:
        self.assertEqual(self.rates.on("EUR", date(1999, 1, 1)), 1)


class Statements(unittest.TestCase):
    def read(self, data: bytes, **profile: object) -> list[tuple[str, str]]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "s.csv"
            path.write_bytes(data)
            columns = {"date": "D", "amount": "A", "payee": "P"}
            found = read_statement(path, BankProfile("b", "Assets:B", columns, **profile))
        return [(line.payee, str(line.money)) for line in found]

    def test_encoding_and_skipped_lines(self) -> None:
        data = "Konto 1\n\nD;A;P\n01.03.2026;-1,00;Bäcker\n;;\n".encode("cp1252")
        self.assertEqual(self.read(data, encoding="cp1252", skip_lines=2), [("Bäcker", "-1.00 EUR")])

    def test_errors_name_the_line(self) -> None:
        for data in (b"D;A;P\n01.03.2026;x;P\n", b"D;A;P\n2026-03-01;1;P\n"):
            with self.subTest(data), self.assertRaisesRegex(LedgerlineError, "s.csv:2: "):
                self.read(data)

    def test_missing_column(self) -> None:
        with self.assertRaisesRegex(LedgerlineError, "no column 'P'"):
            self.read(b"D;A\n")


class Configuration(unittest.TestCase):
    def load(self, text: str) -> object:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "c.toml"
            path.write_text(text, encoding="utf-8")
            return load_settings(path)

    def test_faults(self) -> None:
        for text in (
            "[ledgerline]\ncolour = 1",
            "[ledgerline]\nfallback_account = 'Nowhere'",
            "[banks.a]\naccount = 'Assets:A'",
            "[banks.a]\naccount = 'Assets:A'\ncolumns = { date = 'D' }",
            "[banks.a]\naccount = 'Assets'\ncolumns = { date = 'D', amount = 'A' }",
            "not toml",
        ):
            with self.subTest(text), self.assertRaises(ConfigError):
                self.load(text)

    def test_unknown_zone(self) -> None:
        with self.assertRaises(ConfigError):
            self.load("[ledgerline]\ntimezone = 'Mars/Base'").zone()

    def test_where_it_is_looked_for(self) -> None:
        self.assertEqual(find_config(Path("a"), {"LEDGERLINE_CONFIG": "b"}), Path("a"))
        self.assertEqual(find_config(None, {"LEDGERLINE_CONFIG": "b"}), Path("b"))

"""The journal on disk, closing, and reports."""

from world import World

from ledgerline.journal_reader import read_journal
from ledgerline.journal_writer import format_journal
from ledgerline.periods import Month

MARCH = ("03.03.2026;Grocer;weekly;a1;-12,50", "20.03.2026;Member;fee 2026;a2;30,00")


class Journal(World):
    def test_reads_what_it_wrote(self) -> None:
        self.giro("03.03.2026;Grocer | Sons;a | b;x;-1.234,50", "03.03.2026;;;;-1,00")
        path = self.book.journal_path(Month(2026, 3))
        self.assertEqual(format_journal(read_journal(path)), path.read_text(encoding="utf-8"))
        self.assertEqual([entry.payee for entry in self.book.transactions()], ["Grocer / Sons", "-"])

    def test_written_by_hand(self) -> None:
        path = self.book.journal_path(Month(2026, 1))
        path.parent.mkdir(parents=True)
        path.write_text(
            "2026-01-01 * Opening\n  Assets:Cash  1,000.00 EUR\n  Equity:Opening  -1000 EUR\n", encoding="utf-8"
        )
        self.assertEqual(self.held(), {"Assets:Cash": "1000.00", "Equity:Opening": "-1000.00"})

    def test_what_is_not_understood_is_an_error(self) -> None:
        path = self.book.journal_path(Month(2026, 1))
        path.parent.mkdir(parents=True)
        for text, line in (
            ("Opening\n", 1),
            ("2026-01-01 ? X\n", 1),
            ("  Assets:Cash  1 EUR\n", 1),
            ("2026-01-01 * X\n  Assets:Cash 1 EUR\n", 2),
            ("2026-01-01 * X\n  Cash:A  1 EUR\n", 2),
            ("2026-01-01 * X\n  ; colour: red\n", 2),
            ("\n2026-01-01 * X\n  Assets:Cash  1 EUR\n", 2),
            ("2026-02-01 * X\n  Assets:A  1 EUR\n  Assets:B  -1 EUR\n", 0),
        ):
            with self.subTest(text):
                path.write_text(text, encoding="utf-8")
                code, printed = self.run_cli("balance")
                self.assertEqual(code, 2)
                self.assertIn(f"2026-01.journal:{line}:" if line else "does not belong into 2026-01", printed)


class Closing(World):
    def test_a_closed_month_is_frozen(self) -> None:
        self.giro(*MARCH)
        self.assertEqual(self.run_cli("close", "2026-03"), (0, "2026-03 is closed\n"))
        self.assertIn("2026-03 is closed", self.giro("01.02.2026;Grocer;;;-1,00"))
        self.assertIn("0 booked, 2 known", self.giro(*MARCH))

    def test_reports_start_from_the_snapshot(self) -> None:
        self.giro(*MARCH)
        self.run_cli("close", "2026-03")
        self.giro("01.04.2026;Grocer;;;-1,00")
        self.assertEqual(self.held()["Assets:Bank:Giro"], "16.50")
        self.assertIn("-12.50 EUR", self.run_cli("balance", "--at", "2026-03-19")[1])

    def test_obstacles(self) -> None:
        self.giro("03.02.2026;Grocer;;;-1,00", "03.03.2026;Nobody;;;-1,00")
        self.assertIn("2026-02 is still open", self.run_cli("close", "2026-03")[1])
        self.run_cli("close", "2026-02")
        self.assertIn("1 bookings are flagged", self.run_cli("close", "2026-03")[1])
        self.assertIn("closed already", self.run_cli("close", "2026-02")[1])

    def test_reopen(self) -> None:
        self.giro(*MARCH)
        self.assertEqual(self.run_cli("reopen", "2026-03")[0], 2)
        self.run_cli("close", "2026-03")
        self.assertEqual(self.run_cli("reopen", "2026-03")[0], 0)

    def test_check_sees_edits(self) -> None:
        self.giro(*MARCH)
        self.run_cli("close", "2026-03")
        self.assertEqual(self.run_cli("check"), (0, "1 months, nothing wrong\n"))
        path = self.book.journal_path(Month(2026, 3))
        text = path.read_text(encoding="utf-8")
        path.write_text(text + "\n" + text, encoding="utf-8")
        code, printed = self.run_cli("check")
        self.assertEqual(code, 1)
        self.assertIn("changed after it was closed", printed)
        self.assertIn("is there twice", printed)


class Reports(World):
    def test_income_at_the_rate_of_the_day(self) -> None:
        self.giro("20.03.2026;Member;fee 2026;a2;30,00")
        rows = "2026-03-05T10:00:00Z,Grocer,USD,-10.00\n2026-03-09T10:00:00Z,Grocer,USD,-10.00\n"
        self.run_cli("import", "card", str(self.write("c.csv", "time,merchant,currency,amount\n" + rows)))
        expected = [
            "account           amount",
            "Expenses:Food  -18.20 EUR",
            "Income:Fees     30.00 EUR",
            "-------------------------",
            "result          11.80 EUR",
        ]
        self.assertEqual(self.run_cli("income", "2026-03")[1].split(), " ".join(expected).split())

    def test_register(self) -> None:
        self.giro(*MARCH)
        printed = self.run_cli("register", "Assets")[1].splitlines()
        self.assertTrue(printed[-1].startswith("2026-03-20 * Member"))
        self.assertTrue(printed[-1].endswith("17.50 EUR"))

    def test_an_empty_book(self) -> None:
        self.assertEqual(self.run_cli("balance"), (0, "the book is empty\n"))

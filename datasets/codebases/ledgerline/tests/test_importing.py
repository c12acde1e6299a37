"""Importing statements into a book."""

from world import World

from ledgerline.periods import Month


class Importing(World):
    def test_sorted_by_rules(self) -> None:
        printed = self.giro(
            "03.03.2026;GROCER AG;;a1;-12,50", "04.03.2026;City Phone;March;a2;-9,99", "05.03.2026;Nobody;;a3;1,00"
        )
        self.assertEqual(printed, "3 lines: 3 booked, 0 known, 1 without a rule\n")
        self.assertEqual(
            self.held(),
            {
                "Assets:Bank:Giro": "-21.49",
                "Equity:Private": "2.99",
                "Expenses:Food": "12.50",
                "Expenses:Phone": "7.00",
                "Expenses:Unknown": "-1.00",
            },
        )

    def test_a_rule_may_ask_for_an_amount_and_rename(self) -> None:
        self.giro("03.03.2026;A. Person;annual fee;;30,00", "03.03.2026;Bank;fee;;-5,00")
        payees = [(entry.payee, entry.flag) for entry in self.book.of_month(Month(2026, 3))]
        self.assertEqual(payees, [("Member", "*"), ("Bank", "!")])

    def test_overlapping_statements(self) -> None:
        first = ("03.03.2026;Grocer;;a1;-12,50", "04.03.2026;Grocer;;a2;-3,00")
        self.giro(*first)
        printed = self.giro(*first[1:], "05.03.2026;Grocer;;a3;-4,00")
        self.assertEqual(printed, "2 lines: 1 booked, 1 known, 0 without a rule\n")

    def test_equal_lines_stay_two(self) -> None:
        line = "03.03.2026;Grocer;Tram ticket;;-2,40"
        self.giro(line, line)
        self.assertIn("0 booked, 2 known", self.giro(line, line))
        self.assertEqual(self.held()["Expenses:Food"], "4.80")

    def test_nothing_is_booked_if_a_line_is_wrong(self) -> None:
        printed = self.giro("03.03.2026;Grocer;;a1;-12,50", "04.03.2026;Grocer;;a2;three")
        self.assertIn("giro.csv:3: 'three' is not an amount", printed)
        self.assertEqual(self.book.months(), [])

    def test_dry_run(self) -> None:
        path = self.write("s.csv", "Day;Name;Purpose;Reference;Amount\n03.03.2026;Grocer;;;-1,00\n")
        self.assertIn("1 would be booked", self.run_cli("import", "giro", str(path), "--dry-run")[1])
        self.assertEqual(self.book.months(), [])

    def test_timestamps_are_moved_to_the_zone(self) -> None:
        path = self.write("c.csv", "time,merchant,currency,amount\n2026-03-31T22:30:00Z,Hotel,USD,-80.00\n")
        self.run_cli("import", "card", str(path))
        self.assertEqual([str(entry.day) for entry in self.book.transactions()], ["2026-04-01"])

    def test_unknown_bank(self) -> None:
        self.assertIn("known are: card, giro", self.run_cli("import", "shoe", "x.csv")[1])

    def test_a_bad_rule_is_named(self) -> None:
        self.write("rules.toml", '[[rule]]\nmatch = "("\naccount = "Expenses:Food"\n')
        self.assertIn("rule 1", self.giro("03.03.2026;Grocer;;;-1,00"))

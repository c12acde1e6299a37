"""Cron expressions."""

import unittest
from datetime import datetime, timezone
from zoneinfo import ZoneInfo

from taskmill.cron import CronSchedule
from taskmill.errors import CronSyntaxError


def at(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=timezone.utc)


class NextAfter(unittest.TestCase):
    def test_steps_and_ranges(self) -> None:
        schedule = CronSchedule.parse("*/15 9-17 * * mon-fri")
        self.assertEqual(schedule.next_after(at(2026, 3, 6, 17, 45)), at(2026, 3, 9, 9, 0))

    def test_next_month(self) -> None:
        self.assertEqual(CronSchedule.parse("@monthly").next_after(at(2026, 4, 1)), at(2026, 5, 1))

    def test_both_day_fields_match_either(self) -> None:
        schedule = CronSchedule.parse("0 9 1 * mon")
        self.assertEqual(schedule.next_after(at(2026, 8, 31, 9)), at(2026, 9, 1, 9))
        self.assertEqual(schedule.next_after(at(2026, 9, 1, 9)), at(2026, 9, 7, 9))

    def test_leap_day(self) -> None:
        self.assertEqual(CronSchedule.parse("0 0 29 2 *").next_after(at(2028, 1, 5)), at(2028, 2, 29))

    def test_sunday_is_zero_and_seven(self) -> None:
        self.assertEqual(CronSchedule.parse("0 0 * * 7").weekdays, CronSchedule.parse("0 0 * * sun").weekdays)

    def test_zone_is_kept(self) -> None:
        berlin = ZoneInfo("Europe/Berlin")
        fired = CronSchedule.parse("30 6 * * *").next_after(datetime(2026, 7, 1, 12, tzinfo=berlin))
        self.assertEqual(fired.astimezone(timezone.utc), at(2026, 7, 2, 4, 30))


class Syntax(unittest.TestCase):
    def test_bad_expressions(self) -> None:
        for text in ("* * * *", "60 * * * *", "*/0 * * * *", "0 0 * * fun", "9-5 * * * *"):
            with self.subTest(text), self.assertRaises(CronSyntaxError):
                CronSchedule.parse(text)

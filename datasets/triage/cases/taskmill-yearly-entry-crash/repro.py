"""An entry limited to one month is computed across the turn of the year."""

from datetime import datetime, timezone

from taskmill.cron import CronSchedule

late_in_the_year = datetime(2026, 11, 20, 8, 0, tzinfo=timezone.utc)
fired = CronSchedule.parse("30 5 1 1 *").next_after(late_in_the_year)
assert fired == datetime(2027, 1, 1, 5, 30, tzinfo=timezone.utc), fired

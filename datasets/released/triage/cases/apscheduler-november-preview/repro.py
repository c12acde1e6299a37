"""In the hour that comes twice a job that is due every ten minutes goes on being due, one time after another."""

from datetime import datetime, timedelta, timezone

from apscheduler.triggers.cron import CronTrigger

trigger = CronTrigger(minute="*/10")  # in the zone of the machine, as the scheduler makes it
now = datetime(2024, 11, 3, 5, 25, tzinfo=timezone.utc).astimezone(trigger.timezone)
previous = None
times: list[datetime] = []
for _ in range(12):
    due = trigger.get_next_fire_time(previous, now)
    assert due is not None
    times.append(due.astimezone(timezone.utc))
    previous, now = due, due

steps = [after - before for before, after in zip(times, times[1:])]
assert steps == [timedelta(minutes=10)] * 11, [f"{time:%H:%M}" for time in times]

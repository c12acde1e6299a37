"""A task every twenty minutes is not due after twelve, in the night the clocks are put forward, too."""

from datetime import datetime, timedelta, timezone

from celery import Celery
from celery.schedules import schedule

app = Celery(timezone="Europe/Berlin", set_as_current=False)
last = datetime(2025, 3, 30, 0, 50, tzinfo=timezone.utc)  # 01:50 in Berlin; twelve minutes later it is 03:02
now = last + timedelta(minutes=12)
every = schedule(timedelta(minutes=20), nowfun=lambda: now.astimezone(app.timezone), app=app)
due, seconds = every.is_due(last.astimezone(app.timezone))

assert (due, round(seconds)) == (False, 480), (due, seconds)

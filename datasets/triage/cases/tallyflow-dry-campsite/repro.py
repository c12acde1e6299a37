"""Nothing is lost between two readings, however far they are apart."""

from datetime import datetime, timezone
from zoneinfo import ZoneInfo

from tallyflow.aggregate import coarser
from tallyflow.meters import Meter
from tallyflow.model import Reading
from tallyflow.registers import flows
from tallyflow.resample import spread
from tallyflow.timegrid import Grid

AMSTERDAM = ZoneInfo("Europe/Amsterdam")
METER = Meter("W-A", "block", "m3")


def moment(month: int, day: int, hour: int) -> datetime:
    return datetime(2026, month, day, hour, tzinfo=timezone.utc)


readings = [
    Reading("W-A", moment(9, 1, 8), 100.0, "m3"),
    Reading("W-A", moment(9, 8, 10), 121.0, "m3"),
    Reading("W-A", moment(9, 29, 8), 160.0, "m3"),
]
days = spread(flows(METER, readings), Grid("day", AMSTERDAM))
months = coarser(days, Grid("month", AMSTERDAM))
total = sum(month.value or 0.0 for month in months)
assert abs(total - 60.0) < 1e-6, f"60 m3 went through the meter, {total:.3f} are in the table"

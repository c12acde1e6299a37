"""A meter that has been read only once has no amounts yet, and still has a column in the report."""

from datetime import datetime, timezone
from zoneinfo import ZoneInfo

from tallyflow.meters import Meter
from tallyflow.model import Reading
from tallyflow.registers import flows
from tallyflow.report import render
from tallyflow.resample import spread
from tallyflow.timegrid import Grid

GRID = Grid("month", ZoneInfo("Europe/Prague"))
READINGS = {"G-11": (902.2, 947.5), "G-14": (12.0,)}


def samples(name: str, shown: tuple[float, ...]) -> list:
    readings = [
        Reading(name, datetime(2026, 11, day, 8, tzinfo=timezone.utc), value, "m3")
        for day, value in enumerate(shown, start=11)
    ]
    return spread(flows(Meter(name, "flats", "m3"), readings), GRID)


try:
    table = render({name: samples(name, shown) for name, shown in READINGS.items()}, GRID)
except ZeroDivisionError as error:
    raise AssertionError("a meter read only once keeps the whole table from being printed") from error
known = next(line.split() for line in table.splitlines() if line.startswith("known"))
assert known == ["known", "100%", "."], known

"""Heat delivered in MWh is reported in kWh."""

from datetime import datetime, timezone

from tallyflow.meters import Meter
from tallyflow.model import Reading
from tallyflow.registers import flows

METER = Meter("H-school", "school")


def total(unit: str) -> float:
    readings = [
        Reading("H-school", datetime(2026, 10, day, tzinfo=timezone.utc), value, unit)
        for day, value in ((1, 1204.0), (2, 1205.5), (3, 1206.0))
    ]
    return sum(flow.amount for flow in flows(METER, readings))


assert abs(total("kWh") - 2.0) < 1e-9, total("kWh")
assert abs(total("MWh") - 2000.0) < 1e-6, total("MWh")
assert abs(total("mWh") - 2e-6) < 1e-12, total("mWh")

"""A file in which two meters take turns is read through the night the clocks are put back."""

import tempfile
from datetime import datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

from tallyflow.meters import Meter
from tallyflow.registers import flows
from tallyflow.sources import Source

BERLIN = ZoneInfo("Europe/Berlin")
START = datetime(2026, 10, 24, 22, tzinfo=timezone.utc)
QUARTERS = 20

rows = ["meter;at;value;unit"]
for quarter in range(QUARTERS + 1):
    local = (START + timedelta(minutes=15 * quarter)).astimezone(BERLIN)
    rows += [f"{meter};{local:%d.%m.%Y %H:%M};{base + quarter};kWh" for meter, base in (("E1", 500), ("E2", 7000))]

with tempfile.TemporaryDirectory() as folder:
    (Path(folder) / "2026-10-25.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    table = Source("gateway", "*.csv").readings(Path(folder), BERLIN)

for name, readings in table.items():
    amounts = [flow.amount for flow in flows(Meter(name, "house", digits=6), readings)]
    assert amounts == [1.0] * QUARTERS, f"{name}: {amounts}"

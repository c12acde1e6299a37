"""The snapshot just made is there, and the oldest is the one that goes, also when a new month begins."""

import tempfile
from datetime import UTC, datetime
from pathlib import Path

from coldshelf.clock import ManualClock
from coldshelf.snapshot import Snapshots
from coldshelf.store import Store

DAYS, KEPT = 5, 2

with tempfile.TemporaryDirectory() as folder:
    clock = ManualClock(datetime(2026, 10, 29, 2, tzinfo=UTC).timestamp())
    store = Store(Path(folder) / "orders", clock, segment_size=400, max_value=100, fsync=False)
    snapshots = Snapshots(Path(folder) / "snapshots", clock, keep=KEPT)
    made, missing = [], []
    for day in range(DAYS):
        store.put("a", str(day).encode())
        made.append(snapshots.create("orders", store).name)
        if made[-1] not in snapshots.names("orders"):
            missing.append(made[-1])
        clock.advance(86400)
    left = snapshots.names("orders")
    store.close()

assert not missing, missing
assert left == made[-KEPT:], left

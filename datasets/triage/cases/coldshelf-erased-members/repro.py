"""What was deleted stays deleted: through compaction, and through a restart after it."""

import tempfile
from pathlib import Path

from coldshelf.clock import ManualClock
from coldshelf.compaction import Compactor
from coldshelf.metrics import Metrics
from coldshelf.store import Store


def opened(folder: str) -> Store:
    return Store(Path(folder) / "members", ManualClock(), segment_size=1024**2, max_value=100, fsync=False)


with tempfile.TemporaryDirectory() as folder:
    store = opened(folder)
    for number in range(50):
        store.put(f"member-{number:03d}", b"name and address")
    store.roll()
    store.delete("member-007")
    for visit in range(40):
        store.put("last-visit", str(visit).encode())
    store.roll()

    outcome = Compactor(store, Metrics(), below=0.5, name="members").run()
    assert outcome.segments == 1, outcome
    assert store.get("member-007") is None
    store.close()

    again = opened(folder)
    found, count = again.get("member-007"), len(again)
    again.close()

assert found is None, found
assert count == 50, count

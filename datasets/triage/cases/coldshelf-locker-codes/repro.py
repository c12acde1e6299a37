"""An entry written for ninety seconds is there after eighty, whatever time it was written at."""

import tempfile
from pathlib import Path

from coldshelf.clock import ManualClock
from coldshelf.store import Store

LIFETIME, LATER = 90, 80

with tempfile.TemporaryDirectory() as folder:
    clock = ManualClock(1_794_000_000.0)
    store = Store(Path(folder) / "codes", clock, segment_size=4096, max_value=100, fsync=False)
    early, late = [], []
    for number in range(40):
        key = f"locker-{number}"
        store.put(key, b"4711", clock.now() + LIFETIME)
        clock.advance(LATER)
        if store.get(key) is None:
            early.append(key)
        clock.advance(LIFETIME - LATER)
        if store.get(key) is not None:
            late.append(key)
        clock.advance(7)
    store.close()

assert not early, early
assert not late, late

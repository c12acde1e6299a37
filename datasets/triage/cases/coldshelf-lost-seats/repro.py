"""A hold is put anew while housekeeping clears away what has run out: the new one was answered, so it must stay."""

import tempfile
import threading
from pathlib import Path

from coldshelf.clock import ManualClock
from coldshelf.compaction import Compactor
from coldshelf.config import NamespaceSettings
from coldshelf.metrics import Metrics
from coldshelf.namespaces import Namespace
from coldshelf.store import Store

CLEARING = threading.Event()
RENEWED = threading.Event()


class SlowDisk(Store):
    """Housekeeping is held up before each deletion for as long as the renewal may need."""

    def delete(self, key: str) -> bool:
        if threading.current_thread().name == "housekeeping":
            CLEARING.set()
            RENEWED.wait(0.2)
        return super().delete(key)


with tempfile.TemporaryDirectory() as folder:
    clock = ManualClock(1_795_000_000.0)
    store = SlowDisk(Path(folder) / "holds", clock, segment_size=4096, max_value=100, fsync=False)
    compactor = Compactor(store, Metrics(), below=0.5, name="holds")
    holds = Namespace("holds", store, NamespaceSettings(ttl=480.0), compactor, clock)
    holds.put("row-7/seat-12", b"basket 1")
    clock.advance(480)

    housekeeping = threading.Thread(target=holds.maintain, name="housekeeping")
    housekeeping.start()
    assert CLEARING.wait(5)
    holds.put("row-7/seat-12", b"basket 2")
    RENEWED.set()
    housekeeping.join()

    record = store.get("row-7/seat-12")
    holds.close()

assert record is not None, "the hold is gone although its put was answered"
assert record.value == b"basket 2", record

"""A price is written while a reader is between the disk and the cache: later reads must see the new price."""

import tempfile
import threading
from pathlib import Path

from coldshelf.clock import ManualClock
from coldshelf.compaction import Compactor
from coldshelf.config import NamespaceSettings
from coldshelf.metrics import Metrics
from coldshelf.namespaces import Namespace
from coldshelf.record import Record
from coldshelf.store import Store

LOADED = threading.Event()
WRITTEN = threading.Event()


class SlowDisk(Store):
    """The reader's thread is held up after it has read the entry."""

    def get(self, key: str) -> Record | None:
        record = super().get(key)
        if threading.current_thread().name == "reader":
            LOADED.set()
            assert WRITTEN.wait(5)
        return record


with tempfile.TemporaryDirectory() as folder:
    clock = ManualClock(1_794_000_000.0)
    store = SlowDisk(Path(folder) / "prices", clock, segment_size=4096, max_value=100, fsync=False)
    compactor = Compactor(store, Metrics(), below=0.5, name="prices")
    prices = Namespace("prices", store, NamespaceSettings(), compactor, clock)
    prices.put("lamp-40", b"19.90")

    reader = threading.Thread(target=prices.get, args=("lamp-40",), name="reader")
    reader.start()
    assert LOADED.wait(5)
    prices.put("lamp-40", b"24.90")
    WRITTEN.set()
    reader.join()

    clock.advance(60)
    seen = prices.get("lamp-40")
    on_disk = store.get("lamp-40")
    prices.close()

assert on_disk is not None and on_disk.value == b"24.90", on_disk
assert seen == b"24.90", seen

"""A lifetime of several parts is their sum: `4w2d` is over after thirty days, and not after four weeks yet."""

import tempfile
from pathlib import Path

from coldshelf.clock import ManualClock
from coldshelf.config import load_settings
from coldshelf.errors import EntryNotFound
from coldshelf.metrics import Metrics
from coldshelf.namespaces import Namespaces


def is_there(namespaces: Namespaces) -> bool:
    try:
        namespaces.get("sessions").get("u-118")
    except EntryNotFound:
        return False
    return True


with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "coldshelf.toml"
    path.write_text(
        f"data_dir = '{folder}/data'\nfsync = false\n[namespaces.sessions]\nttl = '4w2d'\n", encoding="utf-8"
    )
    clock = ManualClock(1_794_000_000.0)
    namespaces = Namespaces(load_settings(path, {}), clock, Metrics())
    namespaces.create("sessions").put("u-118", b"...")
    clock.advance(28 * 86400)
    after_four_weeks = is_there(namespaces)
    clock.advance(2 * 86400)
    after_thirty_days = is_there(namespaces)
    namespaces.close()

assert after_four_weeks
assert not after_thirty_days

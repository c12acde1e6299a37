"""A write costs the same however many entries there are: lines of coldshelf executed per write, counted."""

import sys
import tempfile
from pathlib import Path
from types import FrameType
from typing import Any

from coldshelf.clock import ManualClock
from coldshelf.config import Settings
from coldshelf.metrics import Metrics
from coldshelf.namespaces import Namespace, Namespaces

WRITES = 10


def lines_for_some_writes(namespace: Namespace, first: int) -> int:
    count = 0

    def count_line(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return count_line

    sys.settrace(count_line)
    for number in range(first, first + WRITES):
        namespace.put(f"sku-{number:06d}", b"x" * 40)
    sys.settrace(None)
    return count


def fill(namespace: Namespace, start: int, end: int) -> None:
    for number in range(start, end):
        namespace.put(f"sku-{number:06d}", b"x" * 40)


with tempfile.TemporaryDirectory() as folder:
    settings = Settings(data_dir=Path(folder), segment_size=8 * 1024, fsync=False)
    namespaces = Namespaces(settings, ManualClock(), Metrics())
    skus = namespaces.create("skus")
    fill(skus, 0, 190)
    skus.store.roll()
    few = lines_for_some_writes(skus, 190)
    fill(skus, 200, 800)
    many = lines_for_some_writes(skus, 800)
    segments = len(skus.store.sealed())
    namespaces.close()

# every sealed segment may be looked at once per write, in a handful of lines; its entries may not
assert many < few + WRITES * segments * 20, (few, many, segments)

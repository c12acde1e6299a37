"""A run that was killed before it wrote anything leaves an empty segment behind; the next run still answers writes."""

import tempfile
from pathlib import Path

from coldshelf.clock import ManualClock
from coldshelf.config import Settings
from coldshelf.metrics import Metrics
from coldshelf.namespaces import Namespaces

with tempfile.TemporaryDirectory() as folder:
    settings = Settings(data_dir=Path(folder), fsync=False)

    def start() -> Namespaces:
        return Namespaces(settings, ManualClock(), Metrics())

    first = start()
    first.create("letters").put("a", b"one")
    first.close()
    killed = start()
    killed.get("letters")
    again = start()
    failure = None
    try:
        again.get("letters").put("b", b"two")
        again.get("letters").delete("a")
    except ArithmeticError as error:
        failure = error
    again.close()
    killed.close()

assert failure is None, failure

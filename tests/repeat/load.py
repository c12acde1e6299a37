"""Busy processes: what other work does to a machine while tests run on it."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

SPIN: Final = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    sum(range(1_000_000))"
"""Ends by itself when its parent is gone, however that ended."""


@contextmanager
def busy(processes: int) -> Iterator[list["subprocess.Popen[bytes]"]]:
    """So many processes that each use a whole core, until the block ends."""
    command = [sys.executable, "-S", "-c", SPIN]
    load = [subprocess.Popen(command, start_new_session=True) for _ in range(processes)]  # Ctrl-C is not for them
    try:
        yield load
    finally:
        for process in load:
            process.kill()
        for process in load:
            process.wait()

"""Waiting for another process, as long as a busy machine may take."""

import time
from collections.abc import Callable


def until(true: Callable[[], object], seconds: float = 300, every_s: float = 0.05) -> None:
    """Come back once it is so; look every so many seconds.

    Raises:
        TimeoutError: it never was.
    """
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(every_s)

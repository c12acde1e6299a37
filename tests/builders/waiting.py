"""Waiting for another process, as long as a busy machine may take."""

import time
from collections.abc import Callable


def until(true: Callable[[], bool], seconds: int = 300) -> None:
    """Come back once it is so.

    Raises:
        TimeoutError: it never was.
    """
    for _ in range(seconds * 20):
        if true():
            return
        time.sleep(0.05)
    raise TimeoutError

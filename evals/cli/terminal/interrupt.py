"""Ctrl-C while something is being recorded: what was asked is waited for."""

import asyncio
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from evals.cassette.recorder import Recorder
from evals.cli.terminal.progress import Bar
from evals.errors import RecordingStoppedError

INTERRUPTED: Final = RecordingStoppedError("interrupted")


@contextmanager
def finishing_on_interrupt(recorder: Recorder, progress: Bar) -> Iterator[None]:
    """Ctrl-C ends the asking, not what was asked: answers under way are paid for. The second one ends everything."""
    loop = asyncio.get_running_loop()

    def interrupt() -> None:
        loop.remove_signal_handler(signal.SIGINT)
        recorder.stop.set(INTERRUPTED)
        progress.note(f"finishing {recorder.in_flight} requests under way; Ctrl-C again leaves them")

    if threading.current_thread() is not threading.main_thread():
        yield  # signals are the main thread's
        return
    loop.add_signal_handler(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)

"""A command at a terminal that is none: what a person sees, and a Ctrl-C as a person types it."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

LINES, COLUMNS = 24, 80


def at_a_terminal(
    *arguments: str, command: str = "triage", folder: Path | None = None, **environment: str
) -> tuple[subprocess.Popen[bytes], int]:
    """`triage` or `evals` in a session of its own, at a terminal of 80 columns that turns ^C into SIGINT; what we hold
    is the other end."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    program = "import fcntl, signal, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    program += f"signal.signal(signal.SIGINT, signal.default_int_handler); from {command}.entry_point import run; run()"
    words = [sys.executable, "-c", program, *arguments]
    around = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")} | environment
    job = subprocess.Popen(
        words, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True, cwd=folder, env=around
    )
    os.close(theirs)
    return job, ours


def read_all(terminal: int) -> bytes:
    """All that is shown until the command ends."""
    seen = b""
    while True:
        try:
            more = os.read(terminal, 4096)
        except OSError:  # the other end is closed
            return seen
        if not more:
            return seen
        seen += more


def read_until(terminal: int, text: bytes, seconds: float = 300) -> bytes:
    """All that is shown up to and with `text`, which has to come."""
    seen, until = b"", time.monotonic() + seconds
    while text not in seen and select.select([terminal], [], [], max(0, until - time.monotonic()))[0]:
        try:
            seen += os.read(terminal, 4096)
        except OSError:  # the other end is closed
            break
    assert text in seen, seen[-2000:]
    return seen

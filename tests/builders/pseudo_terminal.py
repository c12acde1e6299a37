"""`triage` at a terminal that is none: what a person sees, and a Ctrl-C as a person types it."""

import os
import pty
import select
import subprocess
import sys
import time


def at_a_terminal(*arguments: str) -> tuple[subprocess.Popen[bytes], int]:
    """The command in a session of its own, at a terminal that turns ^C into SIGINT; what we hold is the other end."""
    ours, theirs = pty.openpty()
    program = "import fcntl, signal, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    program += "signal.signal(signal.SIGINT, signal.default_int_handler); from triage.entry_point import run; run()"
    command = [sys.executable, "-c", program, *arguments]
    job = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    return job, ours


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

"""A command at a terminal that is none: what a person sees, and a Ctrl-C as a person types it."""

import fcntl
import os
import pty
import select
import struct
import sys
import termios
import time
from functools import partial
from pathlib import Path

from tests.builders.at_once import command as run_command
from tests.builders.forked import Forked
from triage import terminal_screen

LINES, COLUMNS = 24, 80


def at_a_terminal(
    *arguments: str, command: str = "triage", folder: Path | None = None, **environment: str
) -> tuple[Forked, int]:
    """`triage` or `evals` in a session of its own, at a terminal of 80 columns that turns ^C into SIGINT; what we hold
    is the other end."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    around = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")} | environment
    take = partial(_take, os.ttyname(theirs))
    job = Forked(run_command, command, arguments, around, take, cwd=folder or Path.cwd())
    select.select([job.stderr], [], [])  # its end is closed: the terminal is taken
    os.close(theirs)
    return job, ours


def _take(name: str) -> None:
    """In the process, which leads a session: what it opens is its terminal."""
    terminal = os.open(name, os.O_RDWR)
    for stream in range(3):
        os.dup2(terminal, stream)
    sys.stdin = os.fdopen(0, encoding="utf-8")
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # it is a text file
    terminal_screen.STDERR.is_interactive = True  # rich looks once, when the server has loaded this


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

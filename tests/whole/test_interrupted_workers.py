"""Ctrl-C reaches the whole group of processes, workers and the server they come from included: one line is said."""

import os
import signal
import time
from pathlib import Path

import pytest

from tests.builders.checkout import a_checkout, started

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("after_s", [0, 0.3, 0.8, 1.5])
def test_an_interrupt_while_the_server_of_workers_loads_is_one_line_and_130(tmp_path, after_s):
    process = started(a_checkout(tmp_path), "run", "tiny.yaml", "--jobs", "2")
    until = time.monotonic() + 60
    while process.poll() is None and not has_a_server(process.pid) and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(after_s)

    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)

    line = "evals: interrupted; what was finished is kept, run the same command to go on\n"
    assert (process.returncode, said) == (130, line)


def has_a_server(session):
    """Whether the process has begun the server that its workers are forked off."""
    return any("multiprocessing.forkserver" in words for words in map(command_of, children_of(session)))


def children_of(pid):
    """The processes it has begun."""
    return Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()


def command_of(pid):
    """How a process was begun; nothing of one that is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8")
    except OSError:
        return ""

"""Ctrl-C reaches the whole group of processes, workers and the server they come from included: one line is said."""

import os
import signal
import time

import pytest

from tests.builders.checkout import a_checkout, started
from tests.builders.processes import servers_of

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("after_s", [0.2, 1.0])
def test_an_interrupt_while_the_server_of_workers_loads_is_one_line_and_130(tmp_path, after_s):
    process = started(a_checkout(tmp_path), "run", "tiny.yaml", "--jobs", "2")
    until = time.monotonic() + 60
    while process.poll() is None and not servers_of(process.pid) and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(after_s)

    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)

    line = "evals: interrupted; what was finished is kept, run the same command to go on\n"
    assert (process.returncode, said) == (130, line)

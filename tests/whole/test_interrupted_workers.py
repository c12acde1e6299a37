"""Ctrl-C reaches the whole group of processes, workers and the server they come from included: one line is said."""

import os
import signal
import time
from contextlib import suppress

import pytest

from tests.builders.checkout import REPOSITORY, a_checkout, started
from tests.builders.processes import servers_of, workers_of
from tests.builders.waiting import until

pytestmark = pytest.mark.slow


LINE = "evals: interrupted; what was finished is kept, run the same command to go on\n"


def test_an_interrupt_while_the_server_of_workers_loads_is_one_line_and_130(tmp_path):
    process = started(a_checkout(tmp_path), "run", "tiny.yaml", "--jobs", "2")
    until(lambda: process.poll() is not None or servers_of(process.pid))
    time.sleep(0.2)  # amid its imports, which take longer

    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=300)

    assert (process.returncode, said) == (130, LINE), said


def test_an_interrupt_while_workers_work_is_one_line_and_130(tmp_path):
    process = started(a_checkout(tmp_path), "run", "tiny.yaml", "--jobs", "2")
    until(lambda: process.poll() is not None or workers_of(process.pid), every_s=0.002)
    stopped = workers_of(process.pid)
    for worker in stopped:
        os.kill(worker, signal.SIGSTOP)  # the run cannot be over before it is interrupted

    os.killpg(process.pid, signal.SIGINT)
    process.wait(timeout=300)
    for worker in stopped:  # one that its parent had not heard of yet leaves by itself, once it goes on
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGCONT)
    _, said = process.communicate(timeout=300)

    assert (process.returncode, said) == (130, LINE), said


AMID_IMPORT = """
import os, signal, sys

class Interrupting:
    def find_spec(self, name, *_):
        if name == "pyexpat" and "evals" in sys.orig_argv:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
"""


def test_an_interrupt_is_heard_where_a_library_makes_an_import_error_of_it(tmp_path):
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "sitecustomize.py").write_text(AMID_IMPORT)
    process = started(a_checkout(tmp_path), "run", "tiny.yaml", PYTHONPATH=f"{hooks}{os.pathsep}{REPOSITORY}")

    _, said = process.communicate(timeout=300)

    assert (process.returncode, said) == (130, LINE), said

"""A server of ours is found again by its pid file, and nobody else's process is ever ended."""

import os

from tests.local_llm.llm_server import Process


def a_process(folder, pid=None):
    if pid is not None:
        (folder / "server.pid").write_text(str(pid), encoding="ascii")
    return Process(folder)


def test_without_a_pid_file_nothing_runs(tmp_path):
    assert a_process(tmp_path).pid() is None


def test_a_number_that_now_belongs_to_another_program_is_not_ours(tmp_path):
    """The pid is this test's own: stopping must not end it."""
    process = a_process(tmp_path, pid=os.getpid())

    assert process.stop() is None


def test_a_torn_pid_file_counts_as_none(tmp_path):
    assert a_process(tmp_path, pid="12x").pid() is None


def test_stopping_forgets_the_pid(tmp_path):
    a_process(tmp_path, pid=os.getpid()).stop()

    assert not (tmp_path / "server.pid").exists()

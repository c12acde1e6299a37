"""Workers hang and die, in real processes; a case that is not at fault is never lost with them."""

import multiprocessing
import os
import re
import threading
import time

import pytest

from evals.runner import worker_pool as workers
from evals.runner.case_task import lost
from evals.runner.worker_pool import LEAVE, run_tasks
from tests.builders.workers import a_case_task, act

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def no_time_to_start_up(monkeypatch):
    """Enough for these workers, which load next to nothing."""
    monkeypatch.setattr(workers, "START_UP", 8.0)


def outcomes(tasks, jobs=1):
    """(case, variant) -> error, or None for a sound trace."""
    return {
        (trace.case_id, trace.variant): trace.error
        for traces in run_tasks(tasks, jobs, act, lost)
        for trace in traces
        if (trace.provenance.label == "failed") == (trace.error is not None)
    }


def test_a_killed_worker_costs_only_the_trial_at_fault(tmp_path):
    tasks = [
        a_case_task(tmp_path, "v2", "kill", "v3"),
        *(a_case_task(tmp_path, "v2", case_id=f"case-{n}") for n in range(3)),
    ]

    found = outcomes(tasks)

    assert [key for key, error in found.items() if error] == [("local-bug", "kill")]
    assert len(found) == 6
    assert re.search(r"died by signal 9 \(SIGKILL\); often the memory is used up", found["local-bug", "kill"])


def test_a_worker_that_exits_says_with_what(tmp_path):
    found = outcomes([a_case_task(tmp_path, "exit")])

    assert found == {
        ("local-bug", "exit"): "the worker process died with exit code 7: the code under test has ended it"
    }


def test_a_worker_that_blocks_is_ended_and_the_others_go_on(tmp_path, monkeypatch):
    """What no time-out inside the worker can end: a thread that never comes back."""
    monkeypatch.setattr(workers, "START_UP", 4.0)
    tasks = [a_case_task(tmp_path, "hang", trial_timeout=0.5), a_case_task(tmp_path, "v2", case_id="other")]

    assert outcomes(tasks, jobs=2) == {
        ("other", "v2"): None,
        ("local-bug", "hang"): "the trial did not end within 0.5 s; `--set trial-timeout=S` gives it more",
    }


def test_no_worker_outlives_the_run_even_one_that_is_left_early(tmp_path):
    running = run_tasks([a_case_task(tmp_path, "v2"), a_case_task(tmp_path, "hang", case_id="other")], 2, act, lost)
    next(running)

    running.close()

    assert multiprocessing.active_children() == []


def test_without_tasks_nothing_is_started():
    assert list(run_tasks([], 2, act, lost)) == []


def told_by_environment(task):
    """What the variable of a test says where the task is worked on."""
    return act(task) and os.environ.get("SAID_BY_A_TEST", "nothing")


@pytest.mark.parametrize("said", ["this", "that", "nothing"])
def test_a_worker_has_the_environment_of_whoever_starts_it_not_of_the_server(tmp_path, monkeypatch, said):
    if said != "nothing":
        monkeypatch.setenv("SAID_BY_A_TEST", said)

    assert list(run_tasks([a_case_task(tmp_path, "v2")], 1, told_by_environment, lost)) == [said]


def leaving_a_thread(task):
    threading.Thread(target=time.sleep, args=(3600,)).start()
    return act(task)


def test_threads_that_a_task_leaves_behind_are_not_waited_for(tmp_path):
    for _ in run_tasks([a_case_task(tmp_path, "v2")], 1, leaving_a_thread, lost):
        done = time.monotonic()

    assert time.monotonic() - done < LEAVE / 2

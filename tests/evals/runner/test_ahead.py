"""While the server of workers loads, cassettes are read: what is kept then, no worker reads again."""

import subprocess
import sys
from functools import partial

import pytest

from evals.cassettes.cassette_files import FOLDER, merge_write
from evals.runner import case_task as case
from evals.runner.case_task import cassette_of, read_ahead, while_loading
from evals.shortcut_switch import SWITCH
from tests.builders.checkout import REPOSITORY
from tests.builders.interaction import an_interaction
from tests.builders.workers import a_case_task


@pytest.fixture
def tasks(tmp_path):
    """Three cases, each with a cassette."""
    tasks = [a_case_task(tmp_path, "v2", case_id=f"case-{n}") for n in range(3)]
    for task in tasks:
        merge_write(task.cassette, [an_interaction(task.case.id)])
    return tasks


def loading_for(monkeypatch, times):
    """The server has loaded after so many questions."""
    answers = iter([True] * times + [False])
    monkeypatch.setattr(case, "loading", lambda: next(answers))


def kept(tasks):
    return [path.name for path in (tasks[0].cache / FOLDER).rglob("*") if path.is_file()]


def test_cassettes_are_read_for_as_long_as_it_loads_and_in_the_order_of_the_tasks(tasks, monkeypatch):
    loading_for(monkeypatch, 2)

    read_ahead(tasks)

    found = kept(tasks)
    assert len(found) == 2
    for task in tasks[:2]:
        assert cassette_of(task).interactions == (an_interaction(task.case.id),)
    assert kept(tasks) == found


def test_what_was_read_before_is_not_read_again(tasks, monkeypatch):
    cassette_of(tasks[0])
    monkeypatch.setattr("evals.cassettes.cassette_files.read", lambda *_: pytest.fail("was read again"))
    loading_for(monkeypatch, 1)

    read_ahead(tasks[:1])


def test_a_cassette_that_cannot_be_trusted_is_left_to_its_trials(tasks, monkeypatch):
    tasks[0].cassette.write_text("no cassette", encoding="utf-8")
    tasks[1].cassette.write_text("interactions: " + 5000 * "[", encoding="utf-8")
    loading_for(monkeypatch, 3)

    read_ahead(tasks)

    assert len(kept(tasks)) == 1


def test_the_plain_path_reads_nothing_ahead(tasks, monkeypatch):
    monkeypatch.setenv(SWITCH, "1")
    loading_for(monkeypatch, 3)

    read_ahead(tasks)

    assert not (tasks[0].cache / FOLDER).exists()


def test_steps_are_taken_for_as_long_as_it_loads(monkeypatch):
    taken = []
    loading_for(monkeypatch, 2)

    while_loading(partial(taken.append, step) for step in "abc")

    assert taken == ["a", "b"]


def test_no_server_is_begun_where_there_is_nothing_to_do(monkeypatch):
    """To ask whether it loads begins it."""
    monkeypatch.setattr(case, "loading", lambda: pytest.fail("asked"))

    read_ahead([])
    while_loading(())


@pytest.mark.slow
def test_the_server_says_when_it_has_loaded():
    command = """
from evals.fork_server import loading
from evals.runner.worker_pool import beside
print(loading())
with beside(int):  # waits for it
    print(loading())
"""
    said = subprocess.run([sys.executable, "-c", command], cwd=REPOSITORY, capture_output=True, text=True, check=True)

    assert said.stdout == "True\nFalse\n"
    assert said.stderr == ""

"""Worker processes begin with their libraries loaded, wherever a command is started."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from evals.fork_server import note_inputs
from tests.builders.checkout import REPOSITORY
from tests.builders.workers import act

pytestmark = pytest.mark.slow


def loaded(task):
    """Whether the libraries were there before the task came."""
    return act(task) and {"langgraph", "chromadb", "bm25s"} <= sys.modules.keys()


def threads(task):
    """How many threads the worker has."""
    return act(task) and len([*Path("/proc/self/task").iterdir()])


def test_a_worker_begins_with_its_libraries_loaded_and_without_a_thread_of_theirs(tmp_path):
    """A thread would not come along when a worker is forked off, and whoever waits for it would wait for ever."""
    command = f"""
import os
os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as the command line does
from pathlib import Path
from evals.runner.case_task import lost
from evals.runner.worker_pool import run_tasks
from tests.builders.workers import a_case_task
from tests.evals.runner.test_origin import loaded, threads
for asked in (loaded, threads):
    print(*run_tasks([a_case_task(Path({str(tmp_path)!r}), "v2")], 1, asked, lost))
"""
    assert in_a_new_process("-c", command) == "True\n1\n"


@pytest.mark.parametrize("theirs", ["", "import nothing_that_is_here"], ids=["a folder", "a package"])
def test_a_folder_called_as_a_package_of_ours_is_not_mistaken_for_it(tmp_path, theirs):
    """As in somebody's project, from which a command is started with --root."""
    for name in ("evals", "triage"):
        (tmp_path / name).mkdir()
        if theirs:
            (tmp_path / name / "__init__.py").write_text(theirs, encoding="utf-8")
    script = tmp_path / "bin" / "script.py"
    script.parent.mkdir()
    script.write_text(
        f"""
from pathlib import Path
from evals.runner.case_task import lost
from evals.runner.worker_pool import run_tasks
from tests.builders.workers import a_case_task
from tests.evals.runner.test_origin import loaded
if __name__ == "__main__":
    print(*run_tasks([a_case_task(Path({str(tmp_path)!r}), "v2")], 1, loaded, lost))
""",
        encoding="utf-8",
    )

    assert in_a_new_process(str(script), cwd=tmp_path, PYTHONPATH=str(REPOSITORY)) == "True\n"


def test_where_no_server_can_be_reached_workers_are_spawned(tmp_path):
    far = tmp_path / ("so far down that no socket's address is as long " * 4)
    far.mkdir()
    command = f"""
from pathlib import Path
from evals.runner.case_task import lost
from evals.fork_server import origin
from evals.runner.worker_pool import run_tasks
from tests.builders.workers import a_case_task, act
print(origin().get_start_method())
((trace,),) = run_tasks([a_case_task(Path({str(tmp_path)!r}), "v2")], 1, act, lost)
print(trace.variant)
"""
    assert in_a_new_process("-c", command, TMPDIR=str(far)) == "spawn\nv2\n"


def in_a_new_process(*words, cwd=REPOSITORY, **environment):
    """What Python says on stdout: this process has its server already."""
    where = {**os.environ, **environment}
    said = subprocess.run([sys.executable, *words], cwd=cwd, env=where, capture_output=True, text=True, check=True)
    return said.stdout


BEGUN = """
import os, sys
from multiprocessing import forkserver
from evals import entry_point
try:
    sys.argv[0] = "evals"
    entry_point._load()
finally:
    print(forkserver._forkserver._forkserver_pid is not None)
"""


def began_early(folder, *words):
    """Whether `evals WORDS` in a folder has the server loaded before it reads the suite."""
    return in_a_new_process("-c", BEGUN, *words, cwd=folder, PYTHONPATH=str(REPOSITORY)) == "True\n"


@pytest.fixture
def ran(tmp_path):
    """A folder in which a run was made from one file."""
    prompt = tmp_path / "prompt.md"
    prompt.write_text("Decide.", encoding="utf-8")
    note_inputs(tmp_path / ".cache", [prompt])
    return tmp_path


@pytest.mark.parametrize("command", ["run", "plan"])
def test_the_libraries_load_while_the_suite_is_read_if_a_file_of_the_last_run_was_edited(ran, command):
    (ran / "prompt.md").write_text("Decide. Hurry.", encoding="utf-8")

    assert began_early(ran, command, "prompts")


@pytest.mark.parametrize(
    "words",
    [
        ["run", "prompts"],
        ["run", "--help"],
        ["run", "prompts", "--jobs", "1"],
        ["plan", "--root=x"],
        ["dataset", "lint"],
    ],
)
def test_nothing_is_loaded_early_where_no_worker_may_be_needed(ran, words):
    if words != ["run", "prompts"]:
        (ran / "prompt.md").write_text("Decide. Hurry.", encoding="utf-8")

    assert not began_early(ran, *words)


def test_nothing_is_loaded_early_where_nothing_was_run_before(tmp_path):
    assert not began_early(tmp_path, "run", "prompts")

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


def test_a_package_called_as_one_of_ours_is_not_mistaken_for_it(tmp_path):
    """As in somebody's project, from which a command is started with --root. Python prefers a package to a folder."""
    for name in ("evals", "triage"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("import nothing_that_is_here", encoding="utf-8")
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
import os, signal, sys
import evals.cli.main
from multiprocessing import forkserver
from evals import entry_point
for line in sys.argv[1:]:
    if not os.fork():
        try:
            sys.argv = ["evals", *line.split()]
            entry_point._load()
            server = forkserver._forkserver._forkserver_pid
            print(server is not None, flush=True)
            if server is not None:
                os.kill(server, signal.SIGKILL)  # nobody needs what it loads
        finally:
            os._exit(0)
    os.wait()
"""


def began_early(folder, *lines):
    """For each line whether `evals LINE` in a folder has the server loaded before it reads the suite."""
    return in_a_new_process("-c", BEGUN, *lines, cwd=folder, PYTHONPATH=str(REPOSITORY)).split()


@pytest.fixture
def ran(tmp_path):
    """A folder in which a run was made from one file."""
    prompt = tmp_path / "prompt.md"
    prompt.write_text("Decide.", encoding="utf-8")
    note_inputs(tmp_path / ".cache", [prompt])
    return tmp_path


def test_the_libraries_load_while_the_suite_is_read_if_a_file_of_the_last_run_was_edited(ran):
    assert began_early(ran, "run prompts") == ["False"]

    (ran / "prompt.md").write_text("Decide. Hurry.", encoding="utf-8")

    assert began_early(ran, "run prompts", "plan prompts") == ["True", "True"]
    no_worker_may_be_needed = ("run --help", "run prompts --jobs 1", "plan --root=x", "dataset lint")
    assert began_early(ran, *no_worker_may_be_needed) == ["False"] * 4


def test_nothing_is_loaded_early_where_nothing_was_run_before(tmp_path):
    assert began_early(tmp_path, "run prompts") == ["False"]

"""`--watch` in a real terminal session: real processes, really edited files, a real Ctrl-C."""

import importlib.util
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from evals.cli.next_watch_round import GO, NOT_RUN, WHEN_TOLD
from tests.builders.at_once import evals_at_once, ready_at_once, rounds_at_once
from tests.builders.checkout import REPOSITORY, own_code, started
from tests.builders.processes import reads_a_pipe

pytestmark = pytest.mark.slow

WATCHING = "watching for changes; Ctrl-C ends it"
PATIENCE = 240.0


def one_stream():
    """As at a terminal: two pipes have no order between them."""
    os.dup2(1, 2)


def rounds_in_one_stream():
    """The same, and its rounds do not wait for Python to load its libraries."""
    one_stream()
    rounds_at_once()


def read_from(fifo):
    """What is written there is its stdin."""
    ready_at_once()
    os.dup2(os.open(fifo, os.O_RDONLY), 0)


class Session:
    """`evals run tiny.yaml --watch` in a checkout, and what it says as it says it."""

    def __init__(self, checkout, begin, jobs="1"):
        self.process = begin(checkout, "run", "tiny.yaml", "--watch", "--jobs", jobs)
        self.lines = queue.Queue()
        self.said = []
        threading.Thread(target=self._read, args=(self.process.stdout,), daemon=True).start()

    def _read(self, stream):
        for line in stream:
            self.lines.put(line.rstrip("\n"))

    def until(self, text):
        """Everything it said up to the first line with `text`."""
        end, heard = time.monotonic() + PATIENCE, []
        while not heard or text not in heard[-1]:
            assert time.monotonic() < end, (text, heard)
            try:
                heard.append(self.lines.get(timeout=1))
            except queue.Empty:
                assert self.process.poll() is None, heard
        return "\n".join(heard)

    def interrupt(self):
        """Ctrl-C; the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE)


@pytest.fixture
def session(checkout):
    with_end = Session(checkout, partial(evals_at_once, before=rounds_in_one_stream, PYTHONPATH=str(REPOSITORY)))
    yield with_end
    if with_end.process.poll() is None:
        os.killpg(with_end.process.pid, signal.SIGKILL)


def edit(path, old, new):
    """Replace some words of the file."""
    text = path.read_text()
    assert old in text
    save(path, text.replace(old, new))


def save(path, text):
    """As an editor saves: a new file in place of the old one, so that nobody sees half a file."""
    scratch = path.with_name(f".{path.name}.swp")
    scratch.write_text(text)
    scratch.replace(path)


def test_a_changed_prompt_is_judged_anew_and_a_broken_one_is_a_line(checkout, session):
    """Green, broken, other than recorded, green again: four rounds, each with its verdict, and 130 at the end."""
    prompt = checkout / "mine.md"
    kept = prompt.read_text()
    assert "exit code 0 (not worse)" in session.until(WATCHING)

    edit(prompt, "version: mine", "versio: mine")
    broken = session.until(WATCHING)
    save(prompt, f"{kept}Be brief.\n")
    unrecorded = session.until(WATCHING)
    save(prompt, kept)
    again = session.until(WATCHING)

    assert broken.startswith("changed: mine.md")
    assert broken.count("evals: ") == 1
    assert "exit code was 0, is 2; " in broken
    assert "exit code 3 (cannot judge)" in unrecorded
    assert "Cannot judge new" in unrecorded
    assert "exit code 0 (not worse)" in again
    assert "4 reused unchanged" in again
    assert session.interrupt() == 130


def test_changed_code_of_a_guard_is_really_used(checkout, tmp_path):
    """The graph is a copy here, so that it can be edited: with a limit of one visit every trial goes another way."""
    one_stream = ("sh", "-c", 'exec "$@" 2>&1', "sh")
    session = Session(checkout, partial(started, before=one_stream, PYTHONPATH=str(own_code(tmp_path / "code"))))
    assert "exit code 0 (not worse)" in session.until(WATCHING)

    guards = tmp_path / "code" / "triage" / "guards" / "guards.py"
    edit(guards, "if state.iterations >= state.max_iterations:", "if state.iterations >= 1:")
    said = session.until(WATCHING)

    assert session.interrupt() == 130
    assert f"changed: {guards}" in said
    assert "0 reused unchanged" in said
    assert "exit code was 0, is 3; " in said


def test_a_change_during_a_round_starts_another_and_ctrl_c_ends_one(checkout, session):
    prompt, cassette = checkout / "mine.md", checkout / "cassettes" / "wrong-sum.yaml"
    session.until(WATCHING)

    save(prompt, prompt.read_text())
    session.until("changed: mine.md")  # the round begins now
    save(cassette, cassette.read_text())
    session.until("changed: cassettes/wrong-sum.yaml")  # and so does the next

    assert session.interrupt() == 130


def test_a_suite_that_is_not_there_is_an_error_and_nothing_to_watch(checkout):
    process = evals_at_once(checkout, "run", "nosuch.yaml", "--watch")
    _, err = process.communicate(timeout=PATIENCE)

    assert (process.returncode, err.count("\n")) == (2, 1)


def test_a_holdout_is_not_opened_at_every_change(checkout):
    process = evals_at_once(checkout, "run", "tiny.yaml", "--watch", "--open-holdout", "why")
    _, err = process.communicate(timeout=PATIENCE)

    assert (process.returncode, "would open it at every change" in err) == (2, True)


ROUND = ("run", "tiny.yaml", "--root", ".", "--jobs")


class Ready:
    """A process that waits to run a round, of a Python of its own or forked off one that has loaded its libraries."""

    def __init__(self, process, pipe):
        self.process, self.pipe = process, pipe
        wait_until(lambda: process.poll() is not None or reads_a_pipe(process.pid))

    def told(self):
        """Exit code, stdout and stderr, when it is told to run now."""
        with suppress(BrokenPipeError), self.pipe as pipe:
            pipe.write(GO)
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out, err


def a_ready_round(checkout):
    """It has imported what it needs when this returns."""
    os.mkfifo(fifo := checkout.parent / "go")
    process = evals_at_once(
        checkout, WHEN_TOLD, *ROUND, "2", before=partial(read_from, fifo), PYTHONPATH=str(REPOSITORY)
    )
    return Ready(process, fifo.open("wb", buffering=0))


def a_new_ready_round(checkout, *places):
    """The same of a Python of its own, whose modules are those of the `places` before the installed ones."""
    process = subprocess.Popen(
        [sys.executable, "-m", "evals", WHEN_TOLD, *ROUND, "2"],
        cwd=checkout,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(map(str, (*places, REPOSITORY)))},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    pipe, process.stdin = process.stdin.detach(), None
    return Ready(process, pipe)


def wait_until(holds):
    """Look again until it holds."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def without_seconds(text):
    """The text, with no time in it."""
    return re.sub(r"\d+\.\d s", "some s", text)


def processes_of(session):
    """Ids and command lines of all processes of a session that have not ended."""
    found = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            state, _, _, of = place.joinpath("stat").read_text().rpartition(")")[2].split()[:4]
            if of == str(session) and state != "Z":
                found[int(place.name)] = place.joinpath("cmdline").read_text()
        except (OSError, ValueError):  # gone meanwhile
            continue
    return found


def waiting_in(session):
    """Ids of the processes of a session that were started to wait."""
    return [number for number, command in processes_of(session.process.pid).items() if WHEN_TOLD in command]


@pytest.mark.parametrize("edited", ["mine.md", "cassettes/wrong-sum.yaml", "tiny.yaml", "datasets", "labels"])
def test_a_round_that_waited_says_and_writes_what_a_new_one_does(checkout, tmp_path, edited):
    """Nothing it has read before it is told to run counts, if it has changed by then."""
    other = shutil.copytree(checkout, tmp_path / "other" / "checkout")
    ready = a_ready_round(checkout)
    for root in (checkout, other):
        match edited:
            case "mine.md":
                save(root / edited, f"{(root / edited).read_text()}Be brief.\n")
            case "tiny.yaml":
                edit(root / edited, "prompt: v2", "prompt: v1")
            case "datasets":
                issue = next(root.glob("datasets/**/wrong-sum/issue.md"))
                save(issue, f"{issue.read_text()}It happens with three books, too.\n")
            case "labels":
                edit(next(root.glob("datasets/**/wrong-sum/case.yaml")), "severity: ", "severity: MEDIUM # ")
            case _:
                (root / edited).unlink()

    said = ready.told()
    new = evals_at_once(other, *ROUND, "2", PYTHONPATH=str(REPOSITORY))
    out, err = new.communicate(timeout=PATIENCE)

    assert (said[0], *map(without_seconds, said[1:])) == (new.returncode, without_seconds(out), without_seconds(err))
    assert said[0] in (0, 3)
    stored = [(root / "reports" / "latest" / "run.json").read_bytes() for root in (checkout, other)]
    assert stored[0] == stored[1]


LOOKS = """
import os, sys
opened = []
sys.addaudithook(lambda event, given: opened.append(str(given[0])) if event == "open" else None)
from evals.cli.next_watch_round import GO, wait_for_go
ours, theirs = os.pipe()
os.dup2(ours, 0)
os.write(theirs, GO)
assert wait_for_go(sys.argv[1:])
data = [each for each in opened if not each.endswith((".py", ".pyc", ".so"))]
ours = tuple(map(os.path.realpath, (".", os.environ["PYTHONPATH"])))
print(*(each for each in data if os.path.realpath(each).startswith(ours) and "site-packages" not in each))
"""


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_process_that_waits_has_read_the_cases_and_the_last_report(checkout, jobs):
    command = [sys.executable, "-c", LOOKS, *ROUND, jobs]
    where = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    opened = subprocess.run(command, cwd=checkout, env=where, check=True, capture_output=True, text=True).stdout

    read = {Path(each) for each in opened.split() if not each.startswith("__editable__")}
    assert read >= {*(checkout / "datasets").rglob("case.yaml")}
    assert {path for path in read if "datasets" not in path.parts} == {checkout.resolve() / "reports/latest/run.json"}


@pytest.mark.parametrize("changed", ["evals.toml", "yaml.py"])
def test_changed_settings_and_modules_of_the_folder_are_left_to_a_new_process(checkout, changed):
    ready = a_ready_round(checkout)
    save(checkout / changed, "\n")

    assert ready.told() == (NOT_RUN, "", "")


@pytest.mark.parametrize("changed", ["evals/errors.py", "triage/guards/guards.py"])
def test_changed_code_is_left_to_a_new_process(checkout, tmp_path, changed):
    """The guards are imported by the server of its workers, and not by itself."""
    code = own_code(tmp_path / "code")
    ready = a_new_ready_round(checkout, code)
    save(code / changed, f"{(code / changed).read_text()}\n")

    assert ready.told() == (NOT_RUN, "", "")


@pytest.mark.parametrize("package", ["jinja2", "bm25s"])
def test_a_changed_package_is_left_to_a_new_process(checkout, tmp_path, package):
    """The one that a report is written with, and one that only workers import."""
    site = tmp_path / "site-packages"
    shutil.copytree(Path(importlib.util.find_spec(package).origin).parent, site / package)
    ready = a_new_ready_round(checkout, site)
    module = site / package / "__init__.py"
    times = module.stat()
    module.write_text(f"{module.read_text()}\n")
    os.utime(module, ns=(times.st_atime_ns, times.st_mtime_ns))

    assert ready.told() == (NOT_RUN, "", "")


def test_where_the_process_that_waits_is_killed_a_new_one_runs(checkout):
    session = Session(checkout, partial(evals_at_once, before=one_stream, PYTHONPATH=str(REPOSITORY)))
    session.until(WATCHING)
    wait_until(lambda: waiting_in(session))
    for number in waiting_in(session):
        os.kill(number, signal.SIGKILL)

    save(checkout / "mine.md", (checkout / "mine.md").read_text() + "Be brief.\n")

    assert "exit code 3 (cannot judge)" in session.until(WATCHING)
    assert session.interrupt() == 130


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_process_is_left_however_watching_ends(checkout, number):
    session = Session(checkout, partial(evals_at_once, before=one_stream, PYTHONPATH=str(REPOSITORY)), jobs="2")
    session.until(WATCHING)
    wait_until(lambda: len(processes_of(session.process.pid)) >= 3)  # itself, what waits, the server of its workers

    session.process.send_signal(number)
    session.process.wait(PATIENCE)

    wait_until(lambda: not processes_of(session.process.pid))


def test_broken_code_of_the_graph_fails_its_trials_without_a_traceback(checkout, tmp_path):
    graph = own_code(tmp_path / "code") / "triage" / "graph.py"
    graph.write_text(f"{graph.read_text()}\ndef (\n")
    process = started(checkout, "run", "tiny.yaml", "--jobs", "2", PYTHONPATH=str(tmp_path / "code"))
    out, err = process.communicate(timeout=PATIENCE)

    assert (process.returncode, err) == (3, "")
    assert "SyntaxError: invalid syntax (graph.py, line" in out

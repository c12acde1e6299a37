"""`--watch` in a real terminal session: real processes, really edited files, a real Ctrl-C."""

import os
import queue
import signal
import threading
import time
from functools import partial

import pytest

from tests.builders.at_once import evals_at_once
from tests.builders.checkout import REPOSITORY, own_code, started

pytestmark = pytest.mark.slow

WATCHING = "watching for changes; Ctrl-C ends it"
PATIENCE = 240.0


def one_stream():
    """As at a terminal: two pipes have no order between them."""
    os.dup2(1, 2)


class Session:
    """`evals run tiny.yaml --watch` in a checkout, and what it says as it says it."""

    def __init__(self, checkout, begin):
        self.process = begin(checkout, "run", "tiny.yaml", "--watch", "--jobs", "1")
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
    with_end = Session(checkout, partial(evals_at_once, before=one_stream, PYTHONPATH=str(REPOSITORY)))
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

    guards = tmp_path / "code" / "triage" / "guards" / "hardened_guards.py"
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

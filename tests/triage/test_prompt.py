"""A person is asked at a terminal, and may leave at any moment."""

import io
import os
import pty
import signal
import threading

import pytest

from triage import terminal_screen as terminal
from triage.state import HumanExchange
from triage.terminal_screen import Terminal

QUESTION = HumanExchange(question="Which database?")


@pytest.fixture
def typing(monkeypatch):
    """The end at which a person types; the other is standard input."""
    ours, theirs = pty.openpty()
    with os.fdopen(theirs) as standard_input:
        monkeypatch.setattr("sys.stdin", standard_input)
        yield ours
    os.close(ours)


def test_an_answer_is_the_line_that_is_typed(typing):
    os.write(typing, b"\nMySQL\n")
    assert Terminal().ask(QUESTION) == "MySQL"


def test_control_d_at_the_prompt_is_no_answer(typing):
    os.write(typing, b"\x04")
    assert Terminal().ask(QUESTION) is None


def test_control_c_that_wakes_no_one_ends_the_prompt_all_the_same(typing, monkeypatch):
    """The signal meets another thread: the sleeping one is not woken by it, as where it came just before the sleep."""

    def interrupt():
        asleep.wait()
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        if not left.wait(timeout=60):
            typed_after_all.append(os.write(typing, b"MySQL\n"))

    def select_and_say_so(*waited_for):
        asleep.set()
        return select(*waited_for)

    select = terminal.select.select
    monkeypatch.setattr(terminal.select, "select", select_and_say_so)
    asleep, left, typed_after_all = threading.Event(), threading.Event(), []
    other = threading.Thread(target=interrupt)
    other.start()
    with pytest.raises(KeyboardInterrupt):
        Terminal().ask(QUESTION)
    left.set()
    other.join()
    assert not typed_after_all


def test_after_the_prompt_signals_are_heard_as_before(typing):
    before = signal.getsignal(signal.SIGINT), signal.set_wakeup_fd(-1)
    os.write(typing, b"MySQL\n")
    Terminal().ask(QUESTION)
    assert (signal.getsignal(signal.SIGINT), signal.set_wakeup_fd(-1)) == before


def test_a_standard_input_that_is_closed_is_no_answer(monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    assert Terminal().ask(QUESTION) is None


def test_lines_that_no_terminal_gives_are_read_one_for_each_question(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("MySQL\n8.0\n"))
    assert [Terminal().ask(QUESTION) for _ in range(3)] == ["MySQL", "8.0", None]

"""What is done beside the trials is done when they are; what goes wrong with it is said by whoever needs it."""

import threading

import pytest

from evals.runner.beside import beside


def test_it_is_done_when_the_block_is_left():
    done = []
    with beside(lambda: done.append(threading.current_thread() is not threading.main_thread())):
        pass

    assert done == [True]


def test_what_it_raises_is_left_to_whoever_does_it_again():
    def fail():
        raise OSError("no space left")

    with beside(fail):
        pass


def test_an_interrupt_does_not_wait_for_it():
    for_ever = threading.Event()
    with pytest.raises(KeyboardInterrupt), beside(for_ever.wait):
        raise KeyboardInterrupt

    for_ever.set()

"""What is done beside the trials is done when they are; what goes wrong with it is said by whoever needs it."""

import multiprocessing
import time
from functools import partial

import pytest

from evals.runner.worker_pool import beside


def write(path):
    """Not at once."""
    time.sleep(0.2)
    path.write_text("done", encoding="utf-8")


def fail(_path):
    """For want of room."""
    raise OSError("no space left on device")


def test_it_is_done_when_the_block_is_left(tmp_path):
    with beside(partial(write, tmp_path / "kept")):
        pass

    assert (tmp_path / "kept").read_text(encoding="utf-8") == "done"


def test_what_it_raises_is_left_to_whoever_does_it_again(tmp_path, capfd):
    with beside(partial(fail, tmp_path)):
        pass

    assert capfd.readouterr() == ("", "")


def test_an_interrupt_does_not_wait_for_it():
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), beside(partial(time.sleep, 600)):
        raise KeyboardInterrupt

    assert time.monotonic() - began < 60
    assert multiprocessing.active_children() == []

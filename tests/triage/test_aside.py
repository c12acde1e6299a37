"""Work beside the event loop: it does not stop the loop, and nobody has to wait for its end."""

import asyncio
import threading
from contextlib import contextmanager

import pytest

from triage.run_in_thread import aside


async def test_what_the_work_returns_or_raises_comes_back():
    assert await aside(lambda _told: 42) == 42
    with pytest.raises(ValueError, match="odd"):
        await aside(lambda _told: int("odd"))


async def test_the_event_loop_goes_on_meanwhile():
    going = threading.Event()

    waiting = asyncio.create_task(aside(lambda _told: going.wait(60)))
    await asyncio.sleep(0)
    going.set()  # never reached, were the loop waiting for the work

    assert await waiting


async def test_work_that_is_left_is_not_waited_for_and_ends_at_the_next_thing_it_tells():
    begun, free, ended, heard = threading.Event(), threading.Event(), threading.Event(), []

    def work(told):
        begun.set()
        try:
            free.wait(60)
            told("reading", 1, 2)
            heard.append("went on")
        finally:
            ended.set()

    waiting = asyncio.create_task(aside(work))
    while not begun.is_set():  # noqa: ASYNC110  # a thread tells in no other way
        await asyncio.sleep(0.01)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert not ended.is_set()

    free.set()
    assert ended.wait(60)
    assert heard == []


async def test_whoever_watches_is_told_and_stops_watching_when_the_work_is_left():
    seen, begun, left = [], threading.Event(), threading.Event()

    @contextmanager
    def watch():
        try:
            yield lambda *told: seen.append(told)
        finally:
            seen.append("over")

    def work(told):
        told("reading", 1, 2)
        begun.set()
        left.wait(60)

    waiting = asyncio.create_task(aside(work, watch))
    while not begun.is_set():  # noqa: ASYNC110  # a thread tells in no other way
        await asyncio.sleep(0.01)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    left.set()

    assert seen == [("reading", 1, 2), "over"]

"""The loop of a replay runs in its own thread what a library hands to another; everything else is as ever."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from evals.shortcut_switch import SWITCH
from evals.triage.trial_clients import runner


def ran(work):
    with runner() as loop:
        return loop.run(work())


async def thread_of_a_function():
    return await asyncio.get_running_loop().run_in_executor(None, threading.get_ident)


def test_a_function_for_the_default_executor_runs_where_it_is():
    assert ran(thread_of_a_function) == threading.get_ident()


def test_on_the_plain_path_it_runs_in_a_thread_as_a_library_meant_it(monkeypatch):
    monkeypatch.setenv(SWITCH, "1")

    assert ran(thread_of_a_function) != threading.get_ident()


def test_what_was_given_to_an_executor_of_ones_own_runs_there():
    async def work():
        with ThreadPoolExecutor(1) as pool:
            return await asyncio.get_running_loop().run_in_executor(pool, threading.get_ident)

    assert ran(work) != threading.get_ident()


def test_its_error_is_raised_where_it_is_awaited():
    async def work():
        with pytest.raises(ZeroDivisionError):
            await asyncio.to_thread(lambda: 1 / 0)
        return "and on"

    assert ran(work) == "and on"


def test_it_may_start_a_loop_of_its_own_as_in_a_thread():
    async def inner():
        await asyncio.sleep(0)
        return "inner"

    async def outer():
        said = await asyncio.to_thread(lambda: asyncio.run(inner()))
        await asyncio.sleep(0)
        return said

    assert ran(outer) == "inner"


def test_a_busy_loop_still_hears_of_a_timeout_and_of_other_threads():
    async def busy(heard):
        while not heard.is_set():  # noqa: ASYNC110 - to be busy is what it is for
            await asyncio.sleep(0)

    async def work():
        loop, heard = asyncio.get_running_loop(), asyncio.Event()
        threading.Timer(0.01, loop.call_soon_threadsafe, [heard.set]).start()
        await busy(heard)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await busy(asyncio.Event())
        return "both"

    assert ran(work) == "both"

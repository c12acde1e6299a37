"""Worker processes, and the server process that they are forked from."""

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from multiprocessing import forkserver, resource_tracker, util
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, SpawnContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final

PRELOADED: Final = ["evals.runner.preloaded"]
"""What the server loads."""
LOADED: Final = "EVALS_LOADED"
"""Variable that tells the server which file to make when it has."""


@cache
def origin() -> ForkServerContext | SpawnContext:
    """The server, which begins to load, whoever goes on meanwhile. Where a system has none, or no socket to reach it
    by, each worker is spawned, and loads all of it by itself."""
    with suppress(ValueError, OSError):
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(PRELOADED)
        resource_tracker.ensure_running()  # the server's first step, which would end the silence
        with _uninterrupted(), _told():
            forkserver.ensure_running()
        return context
    return multiprocessing.get_context("spawn")


def loading() -> bool:
    """Whether whoever asks for a worker now has to wait."""
    return isinstance(origin(), ForkServerContext) and not _loaded().exists()


def _loaded() -> Path:
    """In the folder that goes with this process, beside the server's socket."""
    return Path(util.get_temp_dir()) / "loaded"


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """A process that begins in the block never hears of Ctrl-C, which reaches the whole group; this one hears of it at
    the end of the block."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _told() -> Iterator[None]:
    """A Python that begins in the block finds modules where this one does, and not in the current folder: many projects
    have a folder `evals`. It knows how to say that it has loaded."""
    path = os.pathsep.join(path or str(Path.cwd()) for path in sys.path)
    here = {"PYTHONPATH": path, "PYTHONSAFEPATH": "1", LOADED: str(_loaded())}
    before = {name: os.environ.get(name) for name in here}
    os.environ.update(here)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def process_for(serve: Callable[[Connection, Mapping[str, str]], None]) -> tuple[BaseProcess, Connection]:
    """A process that does `serve` with its end of a pipe and this environment, and our end. It is told next to nothing
    by way of the server: what is cut off there, by an interrupt, would be complained of there."""
    ours, theirs = origin().Pipe()
    process = origin().Process(target=serve, args=(theirs, dict(os.environ)), daemon=True)
    process.start()
    theirs.close()  # so that the pipe ends with the process
    return process, ours

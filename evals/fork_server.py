"""Worker processes, and the server process that they are forked from."""

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from multiprocessing import forkserver, resource_tracker, util
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, SpawnContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final

from evals.content_cache import Kept, digest_of
from evals.package_digests import signature

PRELOADED: Final = ["evals.runner.preloaded_imports"]
"""What the server loads."""
LOADED: Final = "EVALS_LOADED"
"""Variable that tells the server where `loaded_file` is."""


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


CACHE: Final = Path(".cache")
_INPUTS: Final = digest_of(b"inputs of the last run")
_LATE: Final = ("--jobs", "--root", "--scheduler", "--help")


def load_early(words: Sequence[str]) -> None:
    """`origin()`, where a file has changed since the last run in this folder was made from it, unless the command line
    has `words` that may want no worker of this folder. Loading takes longer than reading a suite. A guess: a wrong one
    costs time only."""
    if any(word.startswith(_LATE) for word in words):
        return
    last = Kept(CACHE / "inputs").get(_INPUTS)
    if last is not None and os.cpu_count() != 1 and last != _state(last.decode().split("\n")[1:]):
        origin()


def note_inputs(cache: Path, files: Iterable[Path]) -> None:
    """Note for `load_early` which files a run was made from. What cannot be written is not known next time."""
    with suppress(OSError):
        Kept(cache / "inputs").put(_INPUTS, _state(sorted({str(path.absolute()) for path in files})))


def _state(paths: Sequence[str]) -> bytes:
    """The digest of the signatures of files, then their paths, one to a line."""
    return "\n".join([digest_of(*(str(signature(path)).encode() for path in paths)), *paths]).encode()


def loading() -> bool:
    """Whether whoever asks for a worker now has to wait."""
    return isinstance(origin(), ForkServerContext) and not loaded_file().exists()


def loaded_file() -> Path:
    """Where the server lists what it has loaded: in the folder that goes with this process, beside its socket."""
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
    here = {"PYTHONPATH": path, "PYTHONSAFEPATH": "1", LOADED: str(loaded_file()), "PYTHONHASHSEED": "0"}
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

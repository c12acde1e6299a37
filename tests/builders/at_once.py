"""`evals` and `triage` as processes of their own that begin at once: the whole command, all but the seconds in which
Python loads its libraries.
"""

import atexit
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO

from langsmith import utils as langsmith_utils

import evals.entry_point
import triage.entry_point
from evals import imported_files
from evals.cli import watch_mode
from tests.builders.forked import Forked, begin, begin_in


def evals_at_once(checkout: Path, *words: str, before: Callable[[], None] | None = None, **environment: str) -> Forked:
    """`evals WORDS` in the checkout, with nothing but `environment` around it; `before` runs in the process first."""
    return Forked(command, "evals", words, {"PATH": os.environ["PATH"], **environment}, before, cwd=checkout)


def triage_at_once(*words: str, cwd: Path | None = None, environment: Mapping[str, str] | None = None) -> Forked:
    """`triage WORDS` here, with the environment that is here, unless others are named."""
    around = dict(os.environ if environment is None else environment)
    return Forked(command, "triage", words, around, None, cwd=cwd or Path.cwd())


def command(
    name: str, words: tuple[str, ...], environment: dict[str, str], before: Callable[[], None] | None = None
) -> int:
    """In a process of its own: what the console script does, to the last word; does not return."""
    if before is not None:
        before()
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None  # by TMPDIR, which may be another one
    time.tzset()
    langsmith_utils.get_env_var.cache_clear()  # asked once a process
    sys.argv = [name, *words]
    last = _first_registered()
    {"evals": evals.entry_point, "triage": triage.entry_point}[name].run()
    threading._shutdown()
    atexit._run_exitfuncs()
    last[0]()
    raise AssertionError("a command ends itself")


def _first_registered() -> list[Callable[[], None]]:
    """Where to find what is registered next for the end: a fresh process would run it after all that its libraries
    registered, which here was before."""
    register, found = atexit.register, []

    def kept(function: Callable[[], None]) -> None:
        found.append(function)
        atexit.register = register

    atexit.register = kept
    return found


def run_at_once(words: Sequence[str], **_: object) -> "subprocess.CompletedProcess[str]":
    """In place of `subprocess.run`, for `python -m evals WORDS`, which here begins at once."""
    _, _, name, *arguments = words
    process = Forked(command, name, tuple(arguments), dict(os.environ), None, cwd=Path.cwd())
    out, err = process.communicate()
    return subprocess.CompletedProcess(words, process.wait(), out, err)


class Round:
    """As much of `subprocess.Popen` as `--watch` uses, of a process that is forked off this one."""

    def __init__(self, pid: int, stdin: IO[bytes] | None) -> None:
        """A child, and the other end of its stdin if that is a pipe."""
        self._pid, self.stdin = pid, stdin

    def wait(self) -> int:
        """The exit code."""
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])

    def send_signal(self, number: int) -> None:
        """To the process alone."""
        os.kill(self._pid, number)


def rounds_at_once() -> None:
    """In a process that is to watch: its rounds, and the processes that wait for theirs, begin at once as well."""
    watch_mode._process = _round  # type: ignore[assignment]
    ready_at_once()


def ready_at_once() -> None:
    """In a process that is to wait for its round: it has begun now, after the bytecode of what it holds was written."""
    imported_files.STARTED_NS = time.time_ns()


def _round(*words: str, stdin: int = subprocess.DEVNULL) -> Round:
    theirs, ours = os.pipe()
    sys.stdout.flush()
    if pid := os.fork():
        os.close(theirs)
        if stdin == subprocess.PIPE:
            return Round(pid, os.fdopen(ours, "wb", buffering=0))
        os.close(ours)
        return Round(pid, None)
    try:
        os.setpgid(0, 0)
        os.dup2(theirs, 0)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        command("evals", words, dict(os.environ))
    finally:
        os._exit(1)


PROGRAM = """#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    socket.send_fds(server, [b"-"], [1, 2])
    server.sendall(json.dumps([{name!r}, sys.argv[1:], os.getcwd(), dict(os.environ)]).encode() + b"\\n")
    sys.exit(int(server.makefile().read() or 1))
"""


def program_at_once(name: str, place: Path) -> Path:
    """`evals` or `triage` for shell scripts: an executable that has the command begun by this process. It reads no
    stdin."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(PROGRAM.format(python=sys.executable, address=_server().getsockname(), name=name))
    place.chmod(0o755)
    return place


@cache
def _server() -> socket.socket:
    """Hears of commands to begin for as long as this process lives."""
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(Path(tempfile.mkdtemp()) / "commands"))
    server.listen()
    atexit.register(shutil.rmtree, Path(server.getsockname()).parent, ignore_errors=True)

    def serve() -> None:
        while True:
            threading.Thread(target=_serve, args=(server.accept()[0],), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    return server


def _serve(caller: socket.socket) -> None:
    with caller, suppress(OSError, ValueError):  # a caller that is killed wants no answer
        streams = [Connection(number) for number in socket.recv_fds(caller, 1, 2)[1]]
        name, words, folder, environment = json.loads(caller.makefile().readline())
        process = begin(begin_in, *streams, Path(folder), environment, command, (name, tuple(words), environment, None))
        for stream in streams:
            stream.close()
        process.join()
        caller.sendall(str(process.exitcode).encode())

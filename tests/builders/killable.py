"""`evals` commands in processes of their own that begin at once, to be killed for real: forked off a server that has
imported what they need."""

import contextlib
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path

from evals.cli.main import main
from tests.builders.forked import begin


def begun(checkout: Path, *words: str) -> BaseProcess:
    """`evals WORDS` in the checkout; what it says is in `said_by`."""
    return begin(_command, checkout, partial(main, [*words]), daemon=True)


def killed_before(change: int, folder: Path, checkout: Path, run: Callable[[], int]) -> bool:
    """`run` in the checkout, killed at change number `change` (from 1) to a file in `folder`; False if it ended first.

    Each file that is moved there, removed, or emptied to be written (the kill is just after that) is a change, but for
    locks and files that are still to be moved.
    """
    process = begin(_killed, change, folder, checkout, run, daemon=True)
    process.join()
    return process.exitcode == -signal.SIGKILL


def said_by(checkout: Path) -> str:
    """What the last command begun in the checkout has said so far."""
    return _log(checkout).read_text(encoding="utf-8", errors="replace")


def _command(checkout: Path, run: Callable[[], int]) -> None:
    with _log(checkout).open("wb") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    with contextlib.chdir(checkout):
        sys.exit(run())


def _killed(change: int, folder: Path, checkout: Path, run: Callable[[], int]) -> None:
    left = change

    def hear(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        at = {"open": 0, "os.rename": 1, "os.remove": 0}.get(event)
        if at is None or not isinstance(arguments[at], str | os.PathLike):
            return
        emptied = event == "open" and isinstance(arguments[2], int) and bool(arguments[2] & os.O_TRUNC)
        path = Path(os.path.abspath(arguments[at]))  # noqa: PTH100 - links are not followed
        if (event != "open" or emptied) and path.is_relative_to(folder) and not path.name.startswith("."):
            left -= 1
            if not left:
                if emptied:
                    path.write_bytes(b"")
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hear)
    _command(checkout, run)


def _log(checkout: Path) -> Path:
    return checkout.with_name(f"{checkout.name}.log")

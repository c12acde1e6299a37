"""`evals` commands in processes of their own that begin at once, to be killed for real: forked off a server that has
imported what they need."""

import contextlib
import os
import signal
import sys
from multiprocessing.process import BaseProcess
from pathlib import Path

from evals.cli.main import main
from tests.builders.forked import begin


def begun(checkout: Path, *words: str) -> BaseProcess:
    """`evals WORDS` in the checkout; what it says is in `said_by`."""
    return begin(_command, checkout, words, daemon=True)


def killed_before(change: int, folder: Path, checkout: Path, *words: str) -> bool:
    """`evals WORDS` in the checkout, killed just before it makes change number `change` (from 1) to a file in `folder`;
    False if it ended before. Each file that is moved there, opened to be written or removed is a change, but for locks
    and files that are to be moved."""
    process = begin(_command, checkout, words, (change, folder), daemon=True)
    process.join()
    return process.exitcode == -signal.SIGKILL


def said_by(checkout: Path) -> str:
    """What the last command begun in the checkout has said so far."""
    return _log(checkout).read_text(encoding="utf-8", errors="replace")


def _command(checkout: Path, words: tuple[str, ...], stop: tuple[int, Path] | None = None) -> None:
    if stop is not None:
        _kill_before(*stop)
    with _log(checkout).open("wb") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    with contextlib.chdir(checkout):
        sys.exit(main([*words]))


def _kill_before(change: int, folder: Path) -> None:
    """Kill this process, as the kernel does, before that change."""
    left = change

    def hear(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        at = {"os.rename": 1, "os.remove": 0}.get(event)
        if event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR):
            at = 0
        if at is None or not isinstance(arguments[at], str | os.PathLike):
            return
        path = Path(os.path.abspath(arguments[at]))  # noqa: PTH100 - links are not followed
        if path.is_relative_to(folder) and not path.name.startswith("."):
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hear)


def _log(checkout: Path) -> Path:
    return checkout.with_name(f"{checkout.name}.log")

"""`evals` commands in processes of their own that begin at once, to be killed for real: forked off a server that has
imported what they need."""

import contextlib
import os
import sys
from multiprocessing.process import BaseProcess
from pathlib import Path

from evals.cli.main import main
from tests.builders.forked import begin


def begun(checkout: Path, *words: str) -> BaseProcess:
    """`evals WORDS` in the checkout; what it says is in `said_by`."""
    return begin(_command, checkout, words, daemon=True)


def said_by(checkout: Path) -> str:
    """What the last command begun in the checkout has said so far."""
    return _log(checkout).read_text(encoding="utf-8", errors="replace")


def _command(checkout: Path, words: tuple[str, ...]) -> None:
    with _log(checkout).open("wb") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    with contextlib.chdir(checkout):
        sys.exit(main([*words]))


def _log(checkout: Path) -> Path:
    return checkout.with_name(f"{checkout.name}.log")

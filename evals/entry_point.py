"""Entry point of the `evals` command."""

import os
import sys
from typing import Final

from evals.errors import EXIT_USAGE
from evals.shared.command_lifecycle import Main, Start

START: Final = Start("evals", "interrupted; what was finished is kept, run the same command to go on")
_NO_DOCSTRINGS: Final = "docstrings are definitions here: unset PYTHONOPTIMIZE, or run Python without -OO"


def run() -> None:
    """The console script: runs a command and exits with its code; expected errors are one line, never a traceback."""
    START.run(_load, (_NO_DOCSTRINGS, EXIT_USAGE) if sys.flags.optimize > 1 else None)


def _load() -> Main:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # for small products more threads only spin, in every worker
    if sys.argv[1:2] in (["run"], ["plan"]):
        from evals.fork_server import load_early  # noqa: PLC0415 - armed before

        load_early(sys.argv[2:])
    if sys.argv[1:2] == ["--when-told"]:
        from evals.cli.next_watch_round import NOT_RUN, wait_for_go  # noqa: PLC0415 - as above

        del sys.argv[1]
        if not wait_for_go(sys.argv):
            return lambda _words: NOT_RUN
    from evals.cli.main import main  # noqa: PLC0415 - as above, and it takes half a second

    return main

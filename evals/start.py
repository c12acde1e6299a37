"""Where the `evals` command begins: what holds before anything heavy is imported, and after everything is done.

Ctrl-C ends it with one line and 130, at whatever moment. An interrupt that meets an import becomes no exception: Python
would end by the signal after all, however well that was caught, where it came amid generated code.
"""

import atexit
import os
import signal
import sys
from typing import NoReturn

from evals.errors import EXIT_CANNOT_JUDGE, EXIT_INTERRUPTED, EXIT_USAGE

_SAID = b"evals: interrupted; what was finished is kept, run the same command to go on\n"


def run() -> None:
    """The console script: runs a command and exits with its code; expected errors are one line, never a traceback."""
    arm()
    ended = [EXIT_CANNOT_JUDGE]
    atexit.register(lambda: os._exit(ended[0]))  # the first is the last to run: Python unlearns Ctrl-C after it
    if sys.flags.optimize > 1:
        os.write(2, b"evals: docstrings are definitions here: unset PYTHONOPTIMIZE, or run Python without -OO\n")
        ended[0] = EXIT_USAGE
        return
    from evals.cli.main import main  # noqa: PLC0415 - armed before

    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        code = main(sys.argv[1:])
    except KeyboardInterrupt:  # between two lines, where no command is there to be interrupted
        _leave()
    arm()
    ended[0] = _all_said(code)


def arm() -> None:
    """From now on Ctrl-C ends the process at once, until a command is there that can be interrupted."""
    signal.signal(signal.SIGINT, _leave)
    sys.unraisablehook = _unraisable


def _leave(*_: object) -> NoReturn:
    os.write(2, _SAID)
    os._exit(EXIT_INTERRUPTED)


def _unraisable(unraisable: "sys.UnraisableHookArgs") -> None:
    """An interrupt that met a destructor would be shown as a traceback, and forgotten."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        _leave()
    sys.__unraisablehook__(unraisable)


def _all_said(code: int) -> int:
    """The exit code, once all that was printed has left; what cannot leave is said, and is no success."""
    try:
        sys.stdout.flush()
    except OSError as error:
        os.write(2, f"evals: the output cannot be written ({error.strerror}); see to where it goes\n".encode())
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return code or EXIT_CANNOT_JUDGE
    return code

"""Where a command begins: what holds before anything heavy is imported, and after everything is done.

Ctrl-C ends it with one line and 130, at whatever moment. An interrupt that meets an import becomes no exception: Python
would end by the signal after all, however well that was caught, where it came amid generated code.
"""

import atexit
import gc
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NoReturn

from triage.errors import EXIT_INTERRUPTED, EXIT_OUTAGE, INTERRUPTED

Main = Callable[[list[str]], int]
"""Runs one command line; its exit code."""

SELDOM: Final = (50_000, 20, 50)
"""Objects until the garbage collector looks at the youngest, and how often then at the others: a fifth of the time it
takes to load LangGraph goes into looking after every few hundred, of which hardly one is garbage."""


def run() -> None:
    """The console script `triage`: runs a command and exits with its code, never with a traceback."""
    Start("triage", INTERRUPTED).run(_triage)


def _triage() -> Main:
    from triage.cli import main  # noqa: PLC0415 - armed before

    return main


@dataclass(frozen=True)
class Start:
    """The first and the last moments of the command `name`; `interrupted` is what Ctrl-C then says, in one line."""

    name: str
    interrupted: str

    def run(self, load: Callable[[], Main], refusal: tuple[str, int] | None = None) -> None:
        """Load the command, run it on the process's arguments, and exit with its code, or at once with a `refusal` and
        its code. A code of success becomes `EXIT_OUTAGE` where the output cannot be written."""
        self.arm()
        gc.set_threshold(*SELDOM)
        ended = [EXIT_OUTAGE]
        atexit.register(lambda: os._exit(ended[0]))  # the first is the last to run: Python unlearns Ctrl-C after it
        if refusal is not None:
            self._say(refusal[0])
            ended[0] = refusal[1]
            return
        main = load()
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            code = main(sys.argv[1:])
        except KeyboardInterrupt:  # between two lines, where no command is there to be interrupted
            self._leave()
        self.arm()
        ended[0] = self._all_said(code)

    def arm(self) -> None:
        """From now on Ctrl-C ends the process at once, until a command is there that can be interrupted."""
        signal.signal(signal.SIGINT, self._leave)
        sys.unraisablehook = self._unraisable

    def _say(self, line: str) -> None:
        os.write(2, f"{self.name}: {line}\n".encode())

    def _leave(self, *_: object) -> NoReturn:
        self._say(self.interrupted)
        os._exit(EXIT_INTERRUPTED)

    def _unraisable(self, unraisable: "sys.UnraisableHookArgs") -> None:
        """An interrupt that met a destructor would be shown as a traceback, and forgotten."""
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            self._leave()
        sys.__unraisablehook__(unraisable)

    def _all_said(self, code: int) -> int:
        """The exit code, once all that was printed has left; what cannot leave is said, and is no success."""
        try:
            sys.stdout.flush()
        except OSError as error:
            self._say(f"the output cannot be written ({error.strerror}); see to where it goes")
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return code or EXIT_OUTAGE
        return code

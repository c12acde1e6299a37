"""Start and end of a command: signals, output streams and exit codes, before anything heavy is imported."""

import atexit
import gc
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NoReturn

from evals.shared.extras import missing_extra

EXIT_USAGE: Final = 2
EXIT_INTERRUPTED: Final = 130
EXIT_OUTAGE: Final = 3
"""The output cannot be written."""

Main = Callable[[list[str]], int]
"""Runs one command line; its exit code."""

SELDOM: Final = (50_000, 20, 50)
"""Objects until the garbage collector looks at the youngest, and how often then at the others: a fifth of the time it
takes to load LangGraph goes into looking after every few hundred, of which hardly one is garbage."""


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
        try:
            main = load()
        except ModuleNotFoundError as error:
            line = missing_extra(error)
            if line is None:
                raise
            self._say(line)
            ended[0] = EXIT_USAGE
            return
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

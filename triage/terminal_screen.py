"""Terminal output and questions of `triage`, and logging."""

import logging
import os
import select
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from textwrap import indent
from typing import TYPE_CHECKING, Any, Final

import httpx
import httpx2
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from evals.shared.display_text import one_line, visible
from evals.shared.secrets.rule import masked
from triage.state import AgentError, HumanExchange, TaskItem

if TYPE_CHECKING:
    from triage.job_budget import AnsweredRequest
    from triage.run_in_thread import Told


STDERR: Final = Console(stderr=True, soft_wrap=True, highlight=False)


def say(message: str, style: str = "") -> None:
    """One line, or several, on stderr; keys are masked."""
    STDERR.print(Text(visible(masked(message)), style=style))


def put(text: str) -> None:
    """What a command was asked for, to stdout; keys are masked."""
    print(visible(masked(text)))


def complain(message: str, code: int) -> int:
    """One line about what went wrong; returns the exit code that means it."""
    say(f"triage: {one_line(message)}", "red")
    return code


@dataclass
class Terminal:
    """One sitting's way of talking: how much, and the answers that were given beforehand."""

    quiet: bool = False
    verbose: bool = False
    answers: list[str] = field(default_factory=list)
    asks: bool = True
    """Whether whoever sits at the terminal is asked; the reporter may be asked on the issue instead."""

    def say(self, message: str) -> None:
        """How a sitting ends; quiet or not."""
        say(message)

    def note(self, message: str) -> None:
        """What it begins with, and what it took."""
        if not self.quiet:
            say(message, "dim")

    def tell(self, node: str, changes: Mapping[str, Any]) -> None:
        """One line for each step of a job, or a few."""
        if self.quiet:
            return
        if node == "supervisor":
            say(decision_line(changes), "cyan")
        else:
            say(f"   {node}: {visit_line(changes)}")
        if self.verbose:
            for finding in changes.get("findings", []):
                say(indent(finding.details, "      "), "dim")
                say(f"      {one_line(', '.join(finding.relevant_files)) or 'no files'}", "dim")

    @contextmanager
    def bar(self) -> Iterator["Told"]:
        """A bar while a piece of work goes on, gone when it is over; nothing where nobody watches."""
        columns = TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
        unseen = self.quiet or not sys.stderr.isatty()
        with Progress(*columns, console=STDERR, transient=True, disable=unseen) as progress:
            task = progress.add_task("", visible=False)

            def told(what: str, done: int, total: int) -> None:
                progress.update(task, description=one_line(what), completed=done, total=total, visible=True)

            yield told

    def called(self, call: "AnsweredRequest") -> None:
        """A line for each call of a model, where all is to be seen."""
        if self.verbose:
            tokens = f"{call.tokens_in:,} + {call.tokens_out:,} tokens"
            say(f"      {call.agent} asked {one_line(call.model)}: {tokens}, {call.seconds:.1f} s", "dim")

    def searched(self, query: str) -> None:
        """A line for each query that leaves the machine for the search service."""
        if not self.quiet:
            say(f"      searches the web: {one_line(query)}", "dim")

    def ask(self, question: HumanExchange) -> str | None:
        """The next answer given beforehand, else the one that is typed; None when standard input has come to its end.

        Raises:
            KeyboardInterrupt: Ctrl-C at the prompt.
        """
        say("\nQuestion: " + _behind(question.question or "(the supervisor gave no text)"), "bold")
        if question.context:
            say("  " + _behind(question.context), "dim")
        if self.answers:
            say(f"Answer: {_behind(self.answers[0])}")
            return self.answers.pop(0)
        if not self.asks:
            return None
        try:
            with _interruptible():
                return _typed()
        except EOFError:
            say("")
            return None


def _behind(text: str) -> str:
    """The text, every line but its first indented: a line of a stranger's text must not pass for one of ours."""
    return text.replace("\n", "\n  ")


def _typed() -> str:
    """What is typed; Enter alone is no answer, and uses up no question."""
    while not (typed := _line()).strip():
        say("(nothing typed; Ctrl-D leaves the job waiting)", "dim")
    return typed


def _line() -> str:
    STDERR.print("Answer: ", end="")
    if sys.stdin is None:  # closed by whoever started us
        raise EOFError
    if sys.stdin.isatty() and threading.current_thread() is threading.main_thread():
        _wait_for_line(sys.stdin.fileno())
    return input()


def _wait_for_line(terminal: int) -> None:
    """Until `terminal` has a line to read, or Ctrl-C. A Ctrl-C that comes between Python's last look at the signals and
    `input` falling asleep would wait for the line; here it leaves a byte that ends the sleep."""
    woken, waker = os.pipe()
    os.set_blocking(waker, False)
    before = signal.set_wakeup_fd(waker)
    try:
        while terminal not in select.select([terminal, woken], [], [])[0]:
            os.read(woken, 1)
    finally:
        signal.set_wakeup_fd(before)
        os.close(woken)
        os.close(waker)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Ctrl-C ends the waiting at once. The event loop would only note it, and go on waiting for the line."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def decision_line(changes: Mapping[str, Any]) -> str:
    """Where the supervisor goes and why, and who overruled it; under a plan to several workers at once."""
    routed, confidence = ", ".join(_started(changes)) or changes["routed_node"], changes["supervisor_confidence"]
    overruled = "".join(f" (not {veto.chosen}: {veto.guard})" for veto in changes.get("vetoes", []))
    return one_line(f"-> {routed}{overruled}, confidence {confidence:.2f}: {changes['supervisor_reasoning']}")


def _started(changes: Mapping[str, Any]) -> list[str]:
    tasks: list[TaskItem] = changes.get("plan", [])
    return [f"{task.capability} (task {task.task_id})" for task in tasks if task.status == "RUNNING"]


def visit_line(changes: Mapping[str, Any]) -> str:
    """What a visit found, or how it failed."""
    errors: list[AgentError] = changes.get("agent_errors", [])
    if errors:
        return one_line(f"failed ({errors[0].error})")
    found = changes.get("findings", [])
    return one_line(found[0].summary) if found else "answered"


LOGGER: Final = logging.getLogger("triage")
LOGGER.addHandler(logging.NullHandler())  # or Python prints warnings to stderr where nobody has asked for a log


class _OneLine(logging.Formatter):
    """One line for each record, without this process's keys and with unseen characters spelled out."""

    def format(self, record: logging.LogRecord) -> str:
        return one_line(masked(super().format(record)))


def show() -> None:
    """From now on, on stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_OneLine("%(asctime)s %(levelname)s %(message)s"))
    LOGGER.handlers[:] = [handler]
    LOGGER.setLevel(logging.INFO)
    LOGGER.propagate = False


async def asked(request: httpx.Request | httpx2.Request) -> None:
    """A request goes out; a hook for the clients."""
    LOGGER.info("asked: %s", _told(request))


async def answered(response: httpx.Response | httpx2.Response) -> None:
    """An answer has come; a hook for the clients. Seconds are counted to the end of it."""
    if "event-stream" not in response.headers.get("content-type", ""):  # a stream may never end
        await response.aread()
    seconds = f" after {response.elapsed.total_seconds():.1f} s" if response.is_closed else ""
    LOGGER.info("HTTP %s%s: %s", response.status_code, seconds, _told(response.request))


def failed(request: httpx.Request | httpx2.Request, error: Exception) -> None:
    """A request got no answer, or none that can be read."""
    LOGGER.warning("%s: %s", type(error).__name__, _told(request))


def agent_failed(agent: str, error: str) -> None:
    """A visit of the agent failed."""
    LOGGER.warning("agent %s failed: %s", agent, error)


def invalid_decision(attempt: int, error: str) -> None:
    """An answer of the supervisor's model was invalid, for the first time or the second."""
    LOGGER.log(logging.WARNING if attempt == 1 else logging.ERROR, "supervisor, attempt %s: %s", attempt, error)


def _told(request: httpx.Request | httpx2.Request) -> str:
    url, agent = request.url, request.headers.get("x-triage-agent")
    port = f":{url.port}" if url.port else ""
    return f"{request.method} {url.scheme}://{url.host}{port}{url.path}{f' for {agent}' if agent else ''}"

"""Python processes that begin at once: forked off a server that has imported what they need.

For tests that need a process of its own (to kill it, to run pytest in it), and not its start, which takes seconds.
"""

import atexit
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import chdir
from itertools import pairwise
from multiprocessing import forkserver, resource_tracker, util
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Final

from evals.fork_server import PRELOADED, origin

PRELOADED.extend(  # one server a process of ours, whoever asks first
    [
        "evals.cli.main",
        "evals.cli.record_commands",
        "evals.cli.run_command",
        "evals.cli.verdict_commands",
        "evals.cli.explain_command",
        "evals.cli.init_command",
        "evals.pipeline.selftest_suite",
        "evals.plugin.hooks",
        "evals.report.view.selftest_page",
        "evals.target.store_index",
        "evals.target.target_trials",
        "evals.target.recording_process",
        "evals.triage.report.triage_sections",
        "evals.triage.triage_metrics",
        "langchain_core.tracers.context",
        "langchain_core.tracers.run_collector",
        "openai.resources.chat.chat",
        "rich._emoji_codes",
        "rich._unicode_data.unicode17-0-0",
        "evals.target.drive",
        "evals.target.cases",
        "evals.target.langgraph_json",
        "evals.target.output_scorers",
        "evals.target.pack",
        "evals.target.http_hooks",
        "evals.entry_point",
        "evals.shared.command_lifecycle",
        "triage.entry_point",
        "triage.cli",
        "triage.graph",
        "evals.plugin.suite_tests",
        "evals.triage.dataset.floor_scores",
        "evals.triage.dataset.web_search_server",
        "evals.triage.scorers",
        "_pytest.junitxml",
        "_pytest.skipping",
        "chromadb.api.rust",
        "chromadb.telemetry.product.posthog",
        "tests.builders.recording_process",
        "distributed.cli.dask_worker",  # where it is installed
        "distributed.cli.dask_scheduler",
        "anyio._backends._asyncio",
        "httpcore",
        "httpcore2",
        "hypothesis",
        "langchain.agents",
        "grpc._channel",
        "grpc.experimental",
        "langchain_core.messages.block_translators.langchain_v0",
        "langchain_core.tracers.stdout",
        "langchain_openai",
        "openai.lib.streaming.chat",
        "openai.resources.chat.completions.completions",
        "tokenizers",
        "xdist.newhooks",
        "xdist.plugin",
        "pytest_asyncio.plugin",
        "pytest_recording.plugin",
        "tests.builders.settled",
    ]
)


_BEGUN: Final[list[BaseProcess]] = []


@atexit.register
def _end_what_is_left() -> None:
    """A test that failed may have left one to wait for something that never comes: nobody waits for it as well."""
    for process in _BEGUN:
        if process.is_alive():
            process.kill()


def begin(target: Callable[..., Any], *arguments: Any, daemon: bool = False) -> BaseProcess:
    """A process that runs `target`, begun."""
    process = origin().Process(target=_alone, args=(target, arguments), daemon=daemon)
    process.start()
    _BEGUN.append(process)
    return process


def _alone(target: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """In the process: workers that it begins come from a server of its own, which is forked off as well."""
    del PRELOADED[1:]
    util.spawnv_passfds = _server_forked  # type: ignore[attr-defined]  # typeshed does not know it
    target(*arguments)


_spawned: Final = util.spawnv_passfds  # type: ignore[attr-defined]  # as above


def _server_forked(path: str, words: Sequence[str], passed: Sequence[int]) -> int:
    """In place of `multiprocessing.util.spawnv_passfds`: the server of workers is a fork of this process, which has
    imported what it is to load. Other programs are started as ever. Returns the process id."""
    preloads, begin, call = words[-1].partition("main(")
    if "multiprocessing.forkserver" not in preloads:
        return int(_spawned(path, words, passed))
    if pid := os.fork():
        return pid
    try:
        kept = [0, 1, 2, *sorted(passed)]
        for below, above in pairwise([*kept, os.sysconf("SC_OPEN_MAX")]):
            os.closerange(below + 1, above)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        forkserver._forkserver.__init__()  # type: ignore[misc]  # its lock is held, and it knows this very server
        resource_tracker._resource_tracker.__init__()  # type: ignore[misc]  # whose pipe was closed
        sys.modules.pop("evals.runner.preloaded_imports", None)  # says that it has been loaded
        exec(f"forkserver.{begin}{call}")  # noqa: S102 - the very words that a new Python would be given
    finally:
        os._exit(0)


class Forked:
    """As much of `subprocess.Popen` as tests use, of a function of ours that gives an exit code, in a session of its
    own; stdout and stderr are pipes of text. It may start processes of its own."""

    def __init__(self, run: Callable[..., int], *arguments: Any, cwd: Path) -> None:
        """`run` and `arguments` are pickled."""
        (out, to_out), (err, to_err) = (origin().Pipe(duplex=False) for _ in range(2))
        self._process = begin(begin_in, to_out, to_err, cwd, dict(os.environ), run, arguments)
        to_out.close()
        to_err.close()
        self.stdout, self.stderr = (os.fdopen(os.dup(each.fileno()), "r", encoding="utf-8") for each in (out, err))

    @property
    def pid(self) -> int:
        """Of the process, and of its session."""
        assert self._process.pid is not None
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """As of `Popen`: minus the signal that ended it."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """The exit code, if it is over."""
        return self._process.exitcode

    def wait(self, timeout: float = 300) -> int:
        """The exit code, when it is over. Raises TimeoutError."""
        self._process.join(timeout)
        if self._process.exitcode is None:
            self.kill()
            raise TimeoutError(f"still there after {timeout} s")
        return self._process.exitcode

    def send_signal(self, number: signal.Signals) -> None:
        """To the process alone."""
        os.kill(self.pid, number)

    def kill(self) -> None:
        """As the kernel does."""
        self._process.kill()

    def terminate(self) -> None:
        """As a service is asked to end."""
        self._process.terminate()

    def communicate(self, timeout: float = 300) -> tuple[str, str]:
        """The rest of what it says; few words on stderr are taken for granted. Raises TimeoutError."""
        until = time.monotonic() + timeout
        said = self.stdout.read(), self.stderr.read()
        self.wait(max(0.0, until - time.monotonic()))
        self.stdout.close()
        self.stderr.close()
        return said


def begin_in(
    out: Connection,
    err: Connection,
    cwd: Path,
    environment: Mapping[str, str],
    run: Callable[..., int],
    arguments: tuple[Any, ...],
) -> None:
    """In a process: lead a session with these streams, and `run` in the folder."""
    os.setsid()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # the server hears of none
    os.environ.clear()
    os.environ.update(environment)
    os.dup2(out.fileno(), 1)
    os.dup2(err.fileno(), 2)
    out.close()
    err.close()
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - the server's may be a file, which can seek
    with chdir(cwd):
        sys.exit(run(*arguments))

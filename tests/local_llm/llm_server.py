"""A small LLM served on loopback: llama.cpp's server and its process."""

import importlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from evals.errors import ConfigurationError, RecordingError
from evals.recording.endpoint import DEFAULT_PORT, HOST, is_healthy

CHATML: Final = Path(__file__).with_name("chatml.jinja")
_LONGEST_ANSWER: Final = 1024  # tokens; a small model that starts to repeat itself never ends by itself
_REPEAT_PENALTY: Final = 1.1  # what Qwen advises; without penalties a schema-bound answer of the small one never ends
_FREQUENCY_PENALTY: Final = 0.2
_REPEAT_WINDOW: Final = 64  # tokens looked back on: longer, and it forbids the tool names and paths in the prompt
_HEALTH_PAUSE_S: Final = 0.2


@dataclass(frozen=True)
class Serving:
    """What to serve and where; `template` replaces the chat template in the GGUF, `context` is in tokens."""

    path: Path
    alias: str
    port: int = DEFAULT_PORT
    template: str = ""
    context: int = 16384
    threads: int = 2

    @property
    def url(self) -> str:
        """What goes into a client's base URL, without the `/v1`."""
        return f"http://{HOST}:{self.port}"


def parameters(serving: Serving, library: Any) -> Any:  # xllamacpp ships no types
    """The `CommonParams` of llama.cpp for `serving`, made by `library` (the module xllamacpp)."""
    params = library.CommonParams()
    params.model.path = str(serving.path)
    params.model_alias = {serving.alias}
    params.hostnames, params.port = [HOST], serving.port
    params.n_ctx, params.n_parallel, params.n_predict = serving.context, 1, _LONGEST_ANSWER
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = serving.threads
    params.sampling.temp, params.sampling.seed = 0.0, 0
    params.sampling.penalty_repeat, params.sampling.penalty_freq = _REPEAT_PENALTY, _FREQUENCY_PENALTY
    params.sampling.penalty_last_n = _REPEAT_WINDOW
    params.cache_prompt, params.cache_idle_slots = False, False
    params.cache_ram_mib = params.n_ctx_checkpoints = 0
    params.chat_template, params.ui = serving.template, False
    return params


def serve(serving: Serving, say: Callable[[str], None], pid: int) -> None:
    """Serve until the process is ended; says "ready" once `/health` answers.

    Raises:
        ConfigurationError: xllamacpp is not installed, the port is taken, or the model does not load.
    """
    if is_healthy(serving.url):
        raise ConfigurationError(f"{serving.url} answers already: stop it, or choose another --port")
    try:
        library = importlib.import_module("xllamacpp")
    except ImportError as error:
        raise ConfigurationError("xllamacpp is not installed: run `make setup WITH=llm`") from error
    try:
        server = library.Server(parameters(serving, library))
    except RuntimeError as error:
        raise ConfigurationError(f"the server did not start with {serving.path}: {error}") from error
    wait_until_healthy(serving.url, timeout_s=120)
    say(f"ready: {serving.alias} at {server.listening_address}/v1, pid {pid}")
    threading.Event().wait()


def wait_until_healthy(url: str, timeout_s: float, is_alive: Callable[[], bool] = lambda: True) -> None:
    """Return once `/health` answers.

    Raises:
        RecordingError: it does not within `timeout_s` seconds, or `is_alive` says that waiting is in vain.
    """
    deadline = time.monotonic() + timeout_s
    while not is_healthy(url):
        if not is_alive() or time.monotonic() > deadline:
            raise RecordingError(f"no server answers at {url}: see the log of the local LLM")
        time.sleep(_HEALTH_PAUSE_S)


_MODULE: Final = "tests.local_llm"
_END_WITHIN_S: Final = 10.0


@dataclass(frozen=True)
class Process:
    """A detached server: `folder` holds its pid file and its log."""

    folder: Path

    @property
    def log(self) -> Path:
        """Everything llama.cpp has to say."""
        return self.folder / "server.log"

    @property
    def _pid_file(self) -> Path:
        return self.folder / "server.pid"

    def pid(self) -> int | None:
        """The process that runs our server now; None if there is none, or the number belongs to someone else by now."""
        try:
            pid = int(self._pid_file.read_text(encoding="ascii"))
        except (FileNotFoundError, ValueError):
            return None
        return pid if _MODULE in _command_line(pid) else None

    def start(self, arguments: Sequence[str], url: str) -> int:
        """Start `serve` with `arguments` in a session of its own and wait until `url` is healthy; returns the pid.

        Raises:
            ConfigurationError: a server answers there already.
            RecordingError: it ended, or was not ready in two minutes; the log says why.
        """
        if is_healthy(url):
            raise ConfigurationError(f"{url} answers already (pid {self.pid() or 'not ours'}): stop it first")
        self.folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", _MODULE, "serve", *arguments]
        with self.log.open("wb") as log:
            child = subprocess.Popen(  # our own module, no shell
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        self._pid_file.write_text(str(child.pid), encoding="ascii")
        wait_until_healthy(url, timeout_s=120, is_alive=lambda: child.poll() is None)
        return child.pid

    def stop(self) -> int | None:
        """End the server and forget it; returns its pid, or None if none was running."""
        pid = self.pid()
        if pid is not None:
            os.kill(pid, signal.SIGTERM)
            _wait_for_end(pid)
        self._pid_file.unlink(missing_ok=True)
        return pid


def _command_line(pid: int) -> str:
    """As `ps` prints it, on Linux and macOS alike; empty when there is no such process."""
    shown = subprocess.run(  # a number and fixed words
        ["ps", "-ww", "-p", str(pid), "-o", "command="],  # wherever the system keeps it
        capture_output=True,
        text=True,
        check=False,
    )
    return shown.stdout


def _wait_for_end(pid: int) -> None:
    deadline = time.monotonic() + _END_WITHIN_S
    while _MODULE in _command_line(pid):
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.1)

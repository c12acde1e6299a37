"""The server as a process of its own: started detached, found again by its pid file, ended."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from evals.errors import ConfigurationError
from evals.recording.local_llm.server import is_healthy, wait_until_healthy

_MODULE: Final = "evals.recording.local_llm"
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
            child = subprocess.Popen(  # noqa: S603  # our own module, no shell
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
    shown = subprocess.run(  # noqa: S603  # a number and fixed words
        ["ps", "-ww", "-p", str(pid), "-o", "command="],  # noqa: S607  # wherever the system keeps it
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

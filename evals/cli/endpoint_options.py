"""The endpoint a command asks, and Ctrl-C while it does."""

import asyncio
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from urllib.parse import urlsplit

from evals.cassettes.recorder import Recorder
from evals.cli.terminal import ProgressBar, VisibleConsole
from evals.errors import ConfigurationError, RecordingStoppedError
from evals.recording.endpoint import Endpoint
from evals.recording.local_llm.llm_server import DEFAULT_PORT, HOST, is_healthy
from evals.workspace import Workspace

TAVILY: Final = "https://api.tavily.com"
NO_SEARCH: Final = "http://search.invalid"
"""An address that nobody has: where searches go that the pack serves none for."""
AT_ONCE: Final = 4
"""Requests in flight unless said otherwise; the local model is always asked one at a time."""


def llm_endpoint(base_url: str | None, api_key: str) -> Endpoint:
    """The endpoint that was named, else the local model if it is being served."""
    if base_url:
        return Endpoint(base_url, api_key)
    local = f"http://{HOST}:{DEFAULT_PORT}"
    if not is_healthy(local):
        raise ConfigurationError(
            "no endpoint: `make record` starts a local model; or name one with --base-url or EVALS_BASE_URL"
        )
    return Endpoint(f"{local}/v1", "")


def at_once(llm: Endpoint, wanted: int | None) -> int:
    """Requests in flight. The local model gives other bytes when it is asked two things at once."""
    parts = urlsplit(llm.base_url)
    if (parts.hostname, parts.port) not in ((HOST, DEFAULT_PORT), ("localhost", DEFAULT_PORT)):
        return wanted or AT_ONCE
    if wanted and wanted > 1:
        said = (
            f"--concurrency {wanted} is ignored: the local model is asked one at a time, two at once change its answers"
        )
        VisibleConsole(stderr=True, soft_wrap=True).print(said, highlight=False, markup=False)
    return 1


@contextmanager
def search_endpoint(workspace: Workspace, tavily_key: str) -> Iterator[Endpoint]:
    """Tavily where there is a key for it, else the search that the pack serves on loopback."""
    if tavily_key:
        yield Endpoint(TAVILY, tavily_key)
    else:
        with workspace.pack.recording_services(workspace.datasets) as urls:
            yield Endpoint(urls.get("search", NO_SEARCH), "")


INTERRUPTED: Final = RecordingStoppedError("interrupted")
"""Why a recorder has stopped whose user wanted it to."""


@contextmanager
def finishing_on_interrupt(recorder: Recorder, progress: ProgressBar) -> Iterator[None]:
    """Answers under way are paid for, and waited for. The second Ctrl-C ends everything."""
    loop = asyncio.get_running_loop()

    def interrupt() -> None:
        loop.remove_signal_handler(signal.SIGINT)
        recorder.stop.set(INTERRUPTED)
        progress.note(f"finishing {recorder.in_flight} requests under way; Ctrl-C again leaves them")

    if threading.current_thread() is not threading.main_thread():
        yield  # signals are the main thread's
        return
    loop.add_signal_handler(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)

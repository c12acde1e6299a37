"""Who is asked, and how many things at once: the endpoint named, else the local model; Tavily, else pages of ours."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from evals.cli.terminal.console import VisibleConsole
from evals.errors import ConfigurationError
from evals.recording.local_llm.server import DEFAULT_PORT, HOST, is_healthy
from evals.recording.search_server import running
from evals.recording.wire import Endpoint

TAVILY: Final = "https://api.tavily.com"
AT_ONCE: Final = 4
"""Requests in flight unless said otherwise; the local model is always asked one at a time."""


def llm_endpoint(base_url: str | None, api_key: str) -> Endpoint:
    """The endpoint that was named, else the local model if it is being served."""
    if base_url:
        return Endpoint(base_url, api_key)
    local = f"http://{HOST}:{DEFAULT_PORT}"
    if not is_healthy(local):
        raise ConfigurationError(
            "no endpoint: start the local model with `make local-llm`, or name one with --base-url or EVALS_BASE_URL"
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
def search_endpoint(datasets: Path, tavily_key: str) -> Iterator[Endpoint]:
    """Tavily where there is a key for it, else the offline web served on loopback."""
    if tavily_key:
        yield Endpoint(TAVILY, tavily_key)
    else:
        with running(datasets) as url:
            yield Endpoint(url, "")

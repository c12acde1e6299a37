"""What is asked of whom, and how long it took, through Python's own logging: `--verbose` shows it on stderr.

Addresses without their query and whatever stands before an @, kinds of answers, seconds; no header and no body, so no
secret.
"""

import logging
import sys
from typing import Final

import httpx
import httpx2

LOGGER: Final = logging.getLogger("triage")


def show() -> None:
    """From now on, on stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
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


def _told(request: httpx.Request | httpx2.Request) -> str:
    url, agent = request.url, request.headers.get("x-triage-agent")
    port = f":{url.port}" if url.port else ""
    return f"{request.method} {url.scheme}://{url.host}{port}{url.path}{f' for {agent}' if agent else ''}"

"""What is asked of whom, how long it took, and what failed, through Python's own logging (logger `triage`): `--verbose`
shows it on stderr.

Of requests: addresses without their query and whatever stands before an @, kinds of answers, seconds; no header and no
body, so no secret. Of failures: which agent, and the error that the job's state keeps as well.
"""

import logging
import sys
from typing import Final

import httpx
import httpx2

from triage.secrecy.held import masked
from triage.visible_text import one_line

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

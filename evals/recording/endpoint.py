"""Requests to the real endpoint: address, key, retries, and who answers for the recording."""

import asyncio
import json
import math
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
import httpx2
from tenacity import AsyncRetrying, RetryCallState, stop_after_attempt, wait_exponential_jitter

from evals.cassettes.live_answer import HttpReply, Send
from evals.cassettes.recorder import StopSignal
from evals.cassettes.request_key import parse_json
from evals.errors import ConfigurationError, NoAnswerError
from evals.secret_filter import FILE, read_allowed, scan, scrub
from evals.shared.git_command import GitError, git
from evals.workspace import Workspace

case_being_recorded: Final[ContextVar[str]] = ContextVar("case_being_recorded", default="")
"""Told to the search server, which keeps some pages from some cases."""
CASE_HEADER: Final = "x-case"
"""Who searches. Part of no cassette key: the page a case must not see is missing from what was recorded for it."""
CONNECT_S: Final = 15.0
"""A host that lets nobody in for so long is down, however long its answers may take."""
_JSON: Final = {"content-type": "application/json"}
HOST: Final = "127.0.0.1"
DEFAULT_PORT: Final = 8091
"""Where the local model of `make record` is served."""


def is_healthy(url: str) -> bool:
    """Whether a server at `url` says it can answer now."""
    try:
        with httpx.Client(trust_env=False, timeout=2) as client:  # no proxy stands between us and loopback
            return client.get(f"{url}/health").status_code == httpx.codes.OK
    except httpx.TransportError:
        return False


class Endpoint:
    """Where requests really go: `base_url` as users give it (`https://host/v1`), and the key that opens it."""

    def __init__(self, base_url: str, api_key: str) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            example = "as in http://127.0.0.1:8091/v1"
            raise ConfigurationError(f"{scrub(base_url)!r} is no endpoint; give its base URL, {example}")
        if parts.username or parts.password or scrub(base_url) != base_url:  # reports of a recording name it
            raise ConfigurationError(
                "the endpoint's URL holds a credential; name its variable with --set api_key_env=NAME"
            )
        self.base_url = base_url.rstrip("/")
        self._api_key = api_key

    def url(self, path_and_query: str, prefix: str) -> str:
        """The address of a request whose placeholder address ends in `path_and_query`."""
        return self.base_url + path_and_query.removeprefix(prefix)

    def headers(self) -> dict[str, str]:
        """What the endpoint asks of everyone."""
        return {"authorization": f"Bearer {self._api_key}"} if self._api_key else {}


def _impatient_to_connect(extensions: Mapping[str, Any]) -> dict[str, Any]:
    return {**extensions, "timeout": {**extensions.get("timeout", {}), "connect": CONNECT_S}}


TARGETS_OWN: Final = "http://target.invalid"
"""The base URL where a target asks an endpoint of its own: nobody has this address."""


class OpenAIWire(httpx2.AsyncBaseTransport):
    """Sends the SDK's requests (below `/v1`) to an OpenAI-compatible endpoint."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._inner = httpx2.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The endpoint's answer."""
        path = request.url.raw_path.decode("ascii")
        sent = httpx2.Request(
            request.method,
            self._endpoint.url(path, "/v1"),
            headers={**_JSON, **self._endpoint.headers()},
            content=_whole(await request.aread()),
            extensions=_impatient_to_connect(request.extensions),
        )
        return await self._inner.handle_async_request(sent)

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._inner.aclose()


def _whole(body: bytes) -> bytes:
    """The body of a request for a whole answer, in the place of a stream."""
    if b'"stream"' not in body:
        return body
    asked = parse_json(body)
    return json.dumps({name: asked[name] for name in asked if name not in ("stream", "stream_options")}).encode()


class TavilyWire(httpx.AsyncBaseTransport):
    """Sends search requests to Tavily, or to a server that speaks its protocol."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._inner = httpx.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The server's answer."""
        path = request.url.raw_path.decode("ascii")
        sent = httpx.Request(
            request.method,
            self._endpoint.url(path, ""),
            headers={**_JSON, CASE_HEADER: case_being_recorded.get(), **self._endpoint.headers()},
            content=await request.aread(),
            extensions=_impatient_to_connect(request.extensions),
        )
        return await self._inner.handle_async_request(sent)

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._inner.aclose()


LONGEST_WAIT_S: Final = 120.0
"""An endpoint that asks for more is taken at its word: come back later."""
_PASSING: Final = frozenset({408, 425, 429})
_backoff: Final = wait_exponential_jitter(max=30, jitter=1)  # 1, 2, 4 ... 30 seconds, each and up to one more


class EndpointRetry:
    """Sends one request up to `retries` times more. `timeout_s` bounds each try as a whole, however slowly it trickles;
    `say` hears why it waits. A host nobody has heard from yet is not tried twice: it is misspelled or down."""

    def __init__(
        self,
        stop: StopSignal,
        *,
        retries: int,
        timeout_s: float,
        now: Callable[[], datetime],
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._stop = stop
        self._retries = retries
        self._timeout_s = timeout_s
        self._now = now
        self._say = say
        self._heard = False

    async def __call__(self, send: Send) -> HttpReply:
        """The last reply, whatever its status.

        Raises:
            NoAnswerError: the last try gave none.
            RecordingStoppedError: recording ended while this waited.
        """
        retrying = AsyncRetrying(
            sleep=self._stop.sleep,
            stop=stop_after_attempt(self._retries + 1),
            wait=self._wait,
            retry=self._is_passing,
            before_sleep=self._told,
            retry_error_callback=_as_it_is,
        )
        reply: HttpReply = await retrying(self._try, send)
        return reply

    async def _try(self, send: Send) -> HttpReply:
        self._stop.check()
        try:
            async with asyncio.timeout(self._timeout_s):
                reply = await send()
        except TimeoutError:
            raise NoAnswerError(
                f"no whole answer within {self._timeout_s:g} s: --set timeout=S raises that, or name a quicker endpoint"
            ) from None
        self._heard = True
        return reply

    def _is_passing(self, state: RetryCallState) -> bool:
        if state.outcome is None or state.outcome.failed:
            error = state.outcome.exception() if state.outcome else None
            return isinstance(error, NoAnswerError) and (self._heard or not error.nobody_there)
        reply: HttpReply = state.outcome.result()
        passing = reply.status in _PASSING or reply.status >= 500
        return passing and not reply.out_of_credit and self._asked_for(reply) <= LONGEST_WAIT_S

    def _wait(self, state: RetryCallState) -> float:
        outcome = state.outcome
        asked_for = self._asked_for(outcome.result()) if outcome and not outcome.failed else 0.0
        return asked_for or _backoff(state)

    def _asked_for(self, reply: HttpReply) -> float:
        return seconds_to_wait(reply.retry_after, self._now())

    def _told(self, state: RetryCallState) -> None:
        outcome = state.outcome
        failed = outcome is None or outcome.failed
        cause = "no answer" if failed or outcome is None else f"status {outcome.result().status}"
        self._say(f"{cause}: asking again in {state.upcoming_sleep:.0f} s ({state.attempt_number} of {self._retries})")


def _as_it_is(state: RetryCallState) -> HttpReply:
    """What the last try gave, or its error as it was raised."""
    assert state.outcome is not None  # noqa: S101 - tenacity calls this after an attempt
    reply: HttpReply = state.outcome.result()
    return reply


def seconds_to_wait(retry_after: str, now: datetime) -> float:
    """The header in seconds, be it a number or an HTTP date (RFC 9110, 10.2.3); 0 if it is neither, or past."""
    try:
        seconds = float(retry_after)
    except ValueError:
        seconds = _until(retry_after, now)
    return max(0.0, seconds) if math.isfinite(seconds) else 0.0


def _until(date: str, now: datetime) -> float:
    try:
        when = parsedate_to_datetime(date)
    except ValueError:
        return 0.0
    return ((when if when.tzinfo else when.replace(tzinfo=UTC)) - now).total_seconds()


def author(given: str | None, workspace: Workspace) -> str:
    """The name given, else git's.

    Raises:
        ConfigurationError: it looks like a secret, an e-mail address for one. No answer could be written under it, and
            that would be said of each after it was paid for.
    """
    name, source = given or git_user(workspace.root), "--recorded-by" if given else "git's user.name"
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise ConfigurationError(f"{source}: no text in UTF-8; give a plain name with --recorded-by") from error
    if found := scan(name, allowed=read_allowed(workspace.cassettes / FILE)):
        raise ConfigurationError(
            f"{source}: {found[0].rule}, which no cassette may hold; give a plain name with --recorded-by, or allow "
            f"sha256 {found[0].sha256} in cassettes/{FILE}"
        )
    return name


def git_user(root: Path) -> str:
    """The name git would put under a commit made at `root`; "unnamed" where it knows none."""
    try:
        name = git(root, "config", "user.name")
    except GitError:
        return "unnamed"
    return name.decode("utf-8", errors="surrogateescape").strip() or "unnamed"

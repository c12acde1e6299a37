"""The LangSmith client: bounded retries, clear errors, no secret sent."""

import json
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self
from uuid import UUID

import requests
from langsmith import Client
from langsmith._exceptions import APIStatusError, LangsmithError  # the newer endpoints raise these, and export none
from langsmith.schemas import LangSmithInfo
from langsmith.utils import LangSmithError, LangSmithRetry
from urllib3 import BaseHTTPResponse
from urllib3.connectionpool import ConnectionPool
from urllib3.exceptions import MaxRetryError

from evals.errors import ConfigurationError, SecretFoundError, ServiceError
from evals.secret_filter import FILE as ALLOWED_FILE
from evals.secret_filter import AllowedSecrets, scan, unsuspicious

PUBLIC: Final = "https://api.smith.langchain.com"
LONGEST_S: Final = 60
_PASSING: Final = (408, 425, 429, 500, 502, 503, 504)
_REMEDY: Final = {
    401: "the key is refused: see LANGSMITH_API_KEY",
    403: "the key may not do this: see LANGSMITH_API_KEY, and LANGSMITH_WORKSPACE_ID for a key of a whole organisation",
    413: "too large for it, though sent alone",
    429: "its limit is reached: run the same command later",
}


class _BoundedLangSmithRetry(LangSmithRetry):
    """Gives up at once where the service asks for a longer wait than `LONGEST_S`: the answer is then the last one."""

    def increment(
        self,
        method: str | None = None,
        url: str | None = None,
        response: BaseHTTPResponse | None = None,
        error: Exception | None = None,
        _pool: ConnectionPool | None = None,
        _stacktrace: TracebackType | None = None,
    ) -> Self:
        if response is not None and _pool is not None and (self.get_retry_after(response) or 0) > LONGEST_S:
            raise MaxRetryError(_pool, url or "", error)
        return super().increment(method, url, response, error, _pool, _stacktrace)


@dataclass(frozen=True)
class ServicePatience:
    """How often what passes is tried again, after a wait that doubles from `backoff_s`, or the one the service asks
    for. `timeout_s` is how long it may be silent."""

    retries: int = 4
    backoff_s: float = 0.5
    timeout_s: int = 60

    def as_retry(self) -> LangSmithRetry:
        """As the SDK takes it. A host nobody has heard from is tried once more only."""
        return _BoundedLangSmithRetry(
            total=self.retries,
            connect=min(1, self.retries),
            status_forcelist=_PASSING,
            backoff_factor=self.backoff_s,
            allowed_methods=None,
            raise_on_status=False,
            raise_on_redirect=False,
        )


@dataclass(frozen=True)
class Service:
    """LangSmith, connected; `url` is what errors call it."""

    client: Client
    url: str
    _failures: list[Exception] = field(default_factory=list)

    @contextmanager
    def doing(self, what: str) -> Iterator[None]:
        """Whatever the SDK raises in the block as one line, which says that it was `what`."""
        try:
            yield
        except (LangSmithError, LangsmithError, requests.RequestException) as error:
            raise told(self.url, what, error) from error

    def send_runs(self, runs: Sequence[Mapping[str, Any]]) -> None:
        """Post these runs, a parent before its children; what is too large for one request goes in halves.

        Raises:
            ServiceError: not all of them were taken.
        """
        what = f"sending {len(runs)} runs"
        try:
            self._checked(what, lambda: self.client.multipart_ingest(create=[dict(run) for run in runs]))
        except ServiceError as error:
            if error.status != requests.codes.request_entity_too_large or len(runs) == 1:
                raise
            half = len(runs) // 2
            self.send_runs(runs[:half])
            self.send_runs(runs[half:])

    def send_feedback(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Post this feedback, as `create_feedback` takes it, in batches of the SDK's.

        Raises:
            ServiceError: not all of it was taken.
        """

        def post() -> None:
            for row in rows:
                self.client.create_feedback(**row, stop_after_attempt=1)
            self.client.flush()

        self._checked(f"sending {len(rows)} scores", post)

    def _checked(self, what: str, send: Callable[[], None]) -> None:
        """What the SDK only logs in its background, it also tells a callback: that is what counts."""
        self._failures.clear()
        with self.doing(what):
            send()
        if self._failures:
            raise told(self.url, what, self._failures[0]) from self._failures[0]


def address(environment: Mapping[str, str] = os.environ) -> tuple[str, str]:
    """The key and the address that LangSmith's own variables name.

    Raises:
        ConfigurationError: there is no key, or the address is none.
    """
    key = _variable(environment, "API_KEY")
    if not key:
        raise ConfigurationError("no key: set LANGSMITH_API_KEY, and LANGSMITH_ENDPOINT if it is not LangSmith's own")
    url = _variable(environment, "ENDPOINT") or PUBLIC
    if not url.startswith(("http://", "https://")):
        raise ConfigurationError("LANGSMITH_ENDPOINT: not an address with http:// or https:// in front")
    return key, url


@contextmanager
def connected(patience: ServicePatience, environment: Mapping[str, str] = os.environ) -> Iterator[Service]:
    """The service that LangSmith's own variables name, asked once whether it is there.

    Raises:
        ConfigurationError: there is no key, or the address is none.
        ServiceError: there is no network, or nobody at that address.
    """
    key, url = address(environment)
    logging.getLogger("langsmith").addHandler(logging.NullHandler())  # what matters is said by us, once
    failures: list[Exception] = []

    def client(info: LangSmithInfo | None, *, batches: bool) -> Client:
        return Client(
            url,
            api_key=key,
            info=info,
            retry_config=patience.as_retry(),
            timeout_ms=patience.timeout_s * 1000,
            auto_batch_tracing=batches,
            tracing_error_callback=failures.append,
            tracing_sampling_rate=1.0,
            omit_traced_runtime_info=True,
        )

    service = Service(client(_info(client, url), batches=True), url, failures)
    try:
        yield service
    finally:
        service.client.close(timeout=0)


def _info(client: Callable[..., Client], url: str) -> LangSmithInfo:
    asking = client(None, batches=False)
    try:
        return LangSmithInfo(**asking.request_with_retries("GET", "/info").json())
    except (LangSmithError, requests.RequestException, TypeError, ValueError) as error:
        raise told(url, "asking who it is", error) from error
    finally:
        asking.close(timeout=0)


def told(url: str, what: str, error: Exception) -> ServiceError:
    """One line about it. What the service said is not repeated: it may quote what it was sent."""
    status = status_of(error)
    if not status:
        hint = "there is no network, or LANGSMITH_ENDPOINT is wrong"
        return ServiceError(
            f"{url} cannot be reached ({what}): {hint}; run the same command again, it goes on from there"
        )
    remedy = _REMEDY.get(status, "run the same command again later" if status >= 500 else "it does not take that")
    return ServiceError(f"{url}: status {status} ({what}): {remedy}", status=status)


def status_of(error: BaseException | None) -> int:
    """The HTTP status behind an error of the SDK; 0 where no answer came."""
    while error is not None:
        if isinstance(error, APIStatusError):
            return error.status_code
        response = getattr(error, "response", None)
        if isinstance(response, requests.Response):
            return response.status_code
        error = error.__cause__ or error.__context__
    return 0


def id_of(value: object) -> UUID:
    """An id as the SDK gives it, which may be a text."""
    return value if isinstance(value, UUID) else UUID(str(value))


def _variable(environment: Mapping[str, str], name: str) -> str:
    return environment.get(f"LANGSMITH_{name}", "").strip() or environment.get(f"LANGCHAIN_{name}", "").strip()


def refuse_secrets(path: Path, things: Iterable[tuple[str, object]], allowed: AllowedSecrets) -> None:
    """Look through `things`, each with what it is called, which were made of what stands at `path`.

    Raises:
        SecretFoundError: something in one of them looks like a secret that nobody answers for; it names the place, and
            never the secret.
    """
    for name, value in things:
        plain = json.loads(json.dumps(value, default=str))
        if unsuspicious([json.dumps(plain, ensure_ascii=False)], []):
            continue
        for found in scan(plain, allowed=allowed)[:1]:
            raise SecretFoundError(
                path,
                f"{found.rule} at {found.json_path} of {name}: nothing was sent; remove it at its source, or, if it is "
                f"no secret, allow sha256 {found.sha256} in cassettes/{ALLOWED_FILE}",
            )

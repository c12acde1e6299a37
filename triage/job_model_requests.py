"""Requests of a job: tokens, price and recorded traffic."""

import datetime as dt
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import astuple, dataclass, field, fields
from typing import Any, Final, TypeVar

import aiosqlite
import httpx
import httpx2
from openai import APIConnectionError, APIStatusError, AuthenticationError, OpenAIError

from evals.shared.secrets.rule import masked
from triage.job_budget import AnsweredRequest, Budget, Refusal, over_budget

Kind = TypeVar("Kind")

COMPLETIONS: Final = "/chat/completions"
MAX_TOKENS: Final = 10_000_000
"""Of one request or answer: the largest context window that any model has."""
EXCERPT: Final = 80
"""Characters of an answer that an error quotes."""


class NoCompletionError(OpenAIError):
    """An answer with HTTP 200 that is no chat completion; the message says from where and what came instead."""


@dataclass
class Account:
    """The requests of one sitting. `silent` counts the visits that failed on the endpoint since it last answered."""

    calls: list[AnsweredRequest] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    silent: int = 0
    heard: Callable[[AnsweredRequest], None] = lambda _call: None
    searched: Callable[[str], None] = lambda _query: None
    """Hears each query of the web search as it is sent."""
    kept: Callable[[AnsweredRequest | Refusal], Awaitable[None]] | None = None
    """Keeps each record with its job, beyond the sitting."""
    budget: Budget | None = None

    def admit(self, request: httpx2.Request) -> None:
        """Let a request out. Raises OverBudgetError where it could pass the job's cap."""
        if self.budget and _asks_a_model(request):
            self.budget.admit(request)

    async def enter(self, response: httpx2.Response) -> None:
        """Enter an answer; a hook for the clients.

        Raises:
            NoCompletionError: HTTP 200 without a completion.
        """
        if not response.is_success:
            await self._refuse(response.request, f"HTTP {response.status_code}")
        if not _asks_a_model(response.request) or not response.is_success:
            return
        if "event-stream" not in response.headers.get("content-type", ""):  # a stream may never end
            await response.aread()
        try:
            body = completion_in(response)
        except NoCompletionError:
            self._settle(response.request, _uncounted(response.request))
            raise
        self.silent = 0
        call = _call(response, body)
        self.calls.append(call)
        self._settle(response.request, call)
        self.heard(call)
        if self.kept:
            await self.kept(call)

    async def lose(self, request: httpx2.Request, error: Exception) -> None:
        """Enter a request that got no answer at all. It may have been answered and charged for all the same."""
        if isinstance(error, httpx2.TransportError):
            sent = not isinstance(error, httpx2.ConnectError)
            await self._refuse(request, type(error).__name__, maybe_charged=sent)

    async def _refuse(self, request: httpx2.Request, why: str, *, maybe_charged: bool = False) -> None:
        charged = maybe_charged and self.budget is not None and _asks_a_model(request)
        model, *tokens = self.budget.bound(request) if charged and self.budget else (_model_in(request), 0, 0)
        refusal = Refusal(_agent_of(request), model, why, *tokens)
        self.refusals.append(refusal)
        self._settle(request, _uncounted(request) if charged else None)
        if self.kept:
            await self.kept(refusal)

    def _settle(self, request: httpx2.Request, took: AnsweredRequest | None) -> None:
        if self.budget:
            self.budget.settle(request, took)

    def is_outage(self, error: Exception, silent_before: int) -> bool:
        """Whether a failed visit means that the endpoint is gone, not that one agent failed: nobody can be reached, the
        key is refused, or the visit before it (`silent_before`, as it was when this one began) had no answer either.
        A job that may not ask any more (`OverBudgetError`) is treated alike."""
        if over_budget(error):
            return True
        if not on_the_endpoint(error):
            return False
        self.silent += 1
        return unreachable(error) or silent_before > 0


def completion_in(response: httpx2.Response) -> dict[str, Any]:
    """The completion an answer holds. Raises NoCompletionError where it holds none."""
    try:
        body = json.loads(response.text)
        choices = body["choices"]
        if all(_is_message(choice["message"]) for choice in (choices[0], *choices)):
            return dict(body)
    except (ValueError, LookupError, TypeError, httpx2.ResponseNotRead):
        pass
    raise NoCompletionError(f"{response.request.url} answered {what_came(response)}, which is no completion")


def _is_message(message: object) -> bool:
    """A message whose tool calls, if any, are calls: parsers stumble over others."""
    if not isinstance(message, dict):
        return False
    calls = message.get("tool_calls") or []
    return isinstance(calls, list) and all(isinstance(call, dict) and "function" in call for call in calls)


def what_came(response: httpx2.Response) -> str:
    """A few words on an answer that is no completion, so that whoever runs the endpoint knows it again."""
    kind = response.headers.get("content-type", "").partition(";")[0]
    if kind in ("text/html", "text/event-stream"):
        return "a web page (is /v1 missing in the base URL?)" if kind == "text/html" else "a stream of events"
    text = masked(" ".join(response.text.split()))  # before it is cut: half a key is a secret as well
    return f"{text[:EXCERPT]}{'…' * (len(text) > EXCERPT)}" or "nothing"


def on_the_endpoint(error: BaseException) -> bool:
    """Whether the fault is the endpoint's or a service's: no answer, or one that refuses."""
    return isinstance(error, APIConnectionError | APIStatusError | NoCompletionError | httpx.HTTPError)


def unreachable(error: BaseException) -> bool:
    """Whether asking for anybody else would be no better: nobody listens at the endpoint, or the key is wrong. (An
    agent's own service that is down is that agent's failure.)"""
    gone = AuthenticationError | httpx2.ConnectError
    return any(isinstance(cause, gone) for cause in _causes(error))


def no_completion(error: BaseException) -> str:
    """What came in place of a completion, where that is what went wrong; else empty."""
    return next((str(cause) for cause in _causes(error) if isinstance(cause, NoCompletionError)), "")


def reason(error: BaseException) -> str:
    """One line: what the endpoint did, with its address where that is known."""
    return masked(_reason(error))


def _reason(error: BaseException) -> str:
    if came := no_completion(error):
        return came
    address = getattr(getattr(error, "request", None), "url", "")
    if isinstance(error, APIStatusError):
        hint = "; is TRIAGE_API_KEY right?" if isinstance(error, AuthenticationError) else ""
        return f"HTTP {error.status_code} from {address}{hint}"
    return " ".join([next(iter(str(error).splitlines()), type(error).__name__), str(address)]).strip()


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error and what it was raised from, outermost first: the SDK and LangChain each wrap it once."""
    while error is not None:
        yield error
        error = error.__cause__


def _asks_a_model(request: httpx2.Request) -> bool:
    return request.url.path.endswith(COMPLETIONS)


def _agent_of(request: httpx2.Request) -> str:
    return request.headers.get("x-triage-agent", "")


def _model_in(request: httpx2.Request) -> str:
    """The model a request asks; empty where it asks none."""
    try:
        return str(json.loads(request.content).get("model") or "")
    except (ValueError, AttributeError, httpx2.RequestNotRead):
        return ""


def _uncounted(request: httpx2.Request) -> AnsweredRequest:
    """A request that may have been charged for, nobody knows how much."""
    return AnsweredRequest(_agent_of(request), _model_in(request), 0, 0, 0.0)


def _call(response: httpx2.Response, body: dict[str, Any]) -> AnsweredRequest:
    usage = body.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    return AnsweredRequest(
        agent=_agent_of(response.request),
        model=str(body.get("model") or ""),
        tokens_in=_count(counts.get("prompt_tokens")),
        tokens_out=_count(counts.get("completion_tokens")),
        seconds=response.elapsed.total_seconds() if response.is_closed else 0.0,
    )


def _count(told: object) -> int:
    """Tokens as they were told; 0 for what is no possible number: an odd count is no reason to lose the answer."""
    return told if isinstance(told, int) and not isinstance(told, bool) and 0 <= told <= MAX_TOKENS else 0


@dataclass(frozen=True)
class StoredRequest:
    """One answered request: when (ISO, UTC), by whom it was made, the path that was asked, both bodies as JSON, and
    seconds until the answer was there."""

    at: str
    agent: str
    path: str
    request: str
    response: str
    seconds: float


_TABLES: Final[Mapping[type, str]] = {
    AnsweredRequest: "triage_calls",
    Refusal: "triage_refusals",
    StoredRequest: "triage_traffic",
}
"""Kind of record -> its table, whose columns are the job's name and the record's fields in order."""


async def make_room(jobs: aiosqlite.Connection) -> None:
    """Make the tables of records, if they are not there yet."""
    for kind, table in _TABLES.items():
        columns = ", ".join(each.name for each in fields(kind))
        await jobs.execute(f"create table if not exists {table} (thread_id text not null, {columns})")
    await jobs.commit()


async def keep(jobs: aiosqlite.Connection, name: str, record: "AnsweredRequest | Refusal | StoredRequest") -> None:
    """Enter one record of the job `name`."""
    values = (name, *astuple(record))
    marks = ", ".join("?" * len(values))
    await jobs.execute(f"insert into {_TABLES[type(record)]} values ({marks})", values)  # noqa: S608 - our own names
    await jobs.commit()


async def kept(jobs: aiosqlite.Connection, name: str, kind: type[Kind]) -> list[Kind]:
    """All records of the job `name` of one kind, in order."""
    query = f"select * from {_TABLES[kind]} where thread_id = ? order by rowid"  # noqa: S608 - as above
    return [kind(*row[1:]) for row in await jobs.execute_fetchall(query, [name])]


async def forget(jobs: aiosqlite.Connection, name: str) -> None:
    """Drop the records of the job `name`."""
    for table in _TABLES.values():
        await jobs.execute(f"delete from {table} where thread_id = ?", [name])  # noqa: S608 - as above
    await jobs.commit()


@dataclass(frozen=True)
class Traffic:
    """Keeps the answers of one job; `enter` is a hook for clients of either library."""

    jobs: aiosqlite.Connection
    name: str

    async def enter(self, response: httpx.Response | httpx2.Response) -> None:
        """Keep the answer, if it is one and both bodies are JSON objects."""
        if not response.is_success:
            return
        request, answer = _object(response.request.content), _object(await response.aread())
        if request is None or answer is None:
            return
        agent = response.request.headers.get("x-triage-agent") or "web_search"
        path, seconds = response.request.url.raw_path.decode("ascii"), response.elapsed.total_seconds()
        now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
        await keep(self.jobs, self.name, StoredRequest(now, agent, path, request, answer, seconds))


def _object(body: bytes) -> str | None:
    """The body as text, without a key that some services take as a member of it; None for what is no JSON object."""
    try:
        value: Any = json.loads(body)
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    return json.dumps({name: member for name, member in value.items() if name != "api_key"}, ensure_ascii=False)

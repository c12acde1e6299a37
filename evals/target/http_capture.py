"""Capture of a target's HTTP requests: each is answered from, or recorded into, the cassette of the current trial.

The trial is a ContextVar, so that trials side by side in one process never get each other's answers. This module
decides what becomes of a request; `http_hooks` takes requests from the HTTP libraries and gives them the answers.
"""

import asyncio
import io
import ipaddress
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from langgraph.config import get_config

from evals.cassettes.cassette_data import Interaction
from evals.cassettes.event_loop_thread import Apart
from evals.cassettes.live_answer import HttpReply, Send, unreachable
from evals.cassettes.player import AGENT_HEADER, IncomingRequest, Tape, heard, play, playing
from evals.cassettes.recorder import Recorder
from evals.cassettes.request_key import parse_json
from evals.errors import EvalsError, MissError
from evals.import_limits import LIBRARY_FILES, at_import
from evals.secret_filter import scrub
from evals.target.http_bodies import HttpAnswer, refused, request_object, served, without_credentials

MODEL_PATHS: Final = (
    "/chat/completions",
    "/completions",
    "/responses",
    "/embeddings",
    "/messages",
    "/messages/count_tokens",
    "/moderations",
    ":generateContent",
    ":streamGenerateContent",
    ":embedContent",
    ":batchEmbedContents",
    "/api/chat",
    "/api/generate",
    "/api/embed",
)
"""Ends of URL paths of model endpoints: OpenAI and what is compatible with it, Anthropic, Gemini (REST), Ollama."""
_PRINTED: Final = 100_000  # characters kept of what a target prints


def is_model_path(path: str) -> bool:
    """Whether a URL path, with or without a query, is a model endpoint's."""
    return path.partition("?")[0].endswith(MODEL_PATHS)


class NotLetThroughError(EvalsError, ConnectionError):
    """A connection that a trial must not make."""


@dataclass(frozen=True)
class Hosts:
    """The services of a user's own that a target may use: answered live, or recorded. Names without a port."""

    pass_through: frozenset[str] = frozenset()
    record: frozenset[str] = frozenset()

    def route(self, host: str, path: str) -> Literal["cassette", "live", "refuse"]:
        """What becomes of a request. Other services on this machine are live, all else is refused."""
        if host in self.pass_through:
            return "live"
        if host in self.record or is_model_path(path):
            return "cassette"
        return "live" if is_local(host) else "refuse"


@dataclass(frozen=True)
class ToolCall:
    """One call of a tool: by which node (`path` of subgraphs, `task` of LangGraph), and whether its result was
    recorded (or replayed) or the tool ran for real."""

    tool: str
    arguments: dict[str, Any]
    path: tuple[str, ...] = ()
    task: str = ""
    recorded: bool = False
    error: str | None = None


@dataclass(frozen=True)
class Recording:
    """A recorder and the thread whose event loop it runs in, shared by all trials of a session.

    The recorder is made with `request_body=stored_request` and `answer_body=bodies.answer_object`.
    """

    recorder: Recorder
    thread: Apart

    def send(self, request: IncomingRequest, live: Send) -> Send:
        """Asks whoever answers: the recorder's `answerer` for a model, else the endpoint that the target asks."""
        answerer = self.recorder.answerer
        if answerer is None or not is_model_path(request.path):
            return live
        return lambda: answerer(request)


def stored_request(request: IncomingRequest) -> dict[str, Any]:
    """The JSON object that a cassette keeps of a request, streams included."""
    body: dict[str, Any] = parse_json(request.body)  # an object: see `request_object`
    return body


@dataclass
class TargetTrial:
    """What one trial may use, and what it did. Without `recording` it is a replay. `tools` are the names of the tools
    whose results are recorded. `passed` are requests that were answered live, `refused` what was not let through."""

    tape: Tape
    recording: Recording | None = None
    hosts: Hosts = Hosts()
    tools: frozenset[str] = frozenset()
    passed: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    tool_calls: list[ToolCall] = field(default_factory=list)
    printed: io.StringIO = field(default_factory=io.StringIO)
    closed: bool = False
    addresses: set[str] = field(default_factory=set)
    """Hosts that it has connected to, and the IP addresses of those in `pass_through` that it has looked up."""
    forced: Any = None
    """`ForcedChoices`, where choices are forced."""

    @property
    def live(self) -> set[str]:
        """What was answered live: requests; where there are none, hosts that it has connected to."""
        return {*self.passed} or self.addresses

    @property
    def is_exact(self) -> bool:
        """Whether every request and connection was answered."""
        return not (self.tape.ledger.misses or self.tape.ledger.failures or self.refused)

    def write(self, text: str) -> None:
        """Keep what the target prints, up to a limit."""
        if self.printed.tell() < _PRINTED:
            self.printed.write(text)

    def refuse(self, message: str) -> str:
        """Note that something was not let through, and return the message."""
        self.refused.append(message)
        return message


current_trial: Final[ContextVar[TargetTrial | None]] = ContextVar("current_trial", default=None)
_running: Final[list[TargetTrial]] = []
_is_live: Final[ContextVar[bool]] = ContextVar("_is_live", default=False)


@contextmanager
def trial_running(trial: TargetTrial) -> Iterator[TargetTrial]:
    """`trial` is the current one inside the block, for this task or thread and those that LangGraph starts from it."""
    token = current_trial.set(trial)
    _running.append(trial)
    try:
        with playing(trial.tape):
            yield trial
    finally:
        _running.remove(trial)
        trial.closed = True
        current_trial.reset(token)


@contextmanager
def live_traffic() -> Iterator[None]:
    """Requests inside the block go to the network: those of a recorder, and of the harness itself."""
    token = _is_live.set(True)
    try:
        yield
    finally:
        _is_live.reset(token)


def is_live() -> bool:
    """Whether the current code may use the network."""
    return _is_live.get()


def is_local(host: str) -> bool:
    """Whether a host name or address is this machine."""
    name = host.strip("[]").partition("%")[0].lower()
    if name in {"localhost", ""}:
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name.endswith(".localhost")


@dataclass(frozen=True)
class SentRequest:
    """A request of any HTTP library; `path` includes the query, `agent` is what its header says (mostly nothing)."""

    method: str
    host: str
    path: str
    body: bytes
    agent: str = ""

    @classmethod
    def of(cls, method: str, host: str, path: str, headers: Any, body: bytes) -> "SentRequest":  # noqa: ANN401 - four libraries
        """From the parts that all libraries have; `headers` is a mapping."""
        return cls(method.upper(), host.lower(), path or "/", body, str(headers.get(AGENT_HEADER) or ""))


def answer(sent: SentRequest, ask: Callable[[], HttpReply]) -> HttpAnswer | None:
    """The answer for a synchronous client; None: the request goes out as it is. `ask` asks the endpoint."""
    given = _route(sent)
    if not isinstance(given, tuple):
        return given
    request, recording = given

    def live() -> HttpReply:
        with _asking(request):
            return ask()

    async def send() -> HttpReply:
        return await asyncio.to_thread(live)

    return _recorded(lambda: recording.thread.wait(recording.recorder.answer(request, recording.send(request, send))))


async def answer_async(sent: SentRequest, ask: Callable[[], Awaitable[HttpReply]]) -> HttpAnswer | None:
    """The answer for an asynchronous client; None: the request goes out as it is. `ask` runs in the client's loop."""
    given = _route(sent)
    if not isinstance(given, tuple):
        return given
    request, recording = given
    loop = asyncio.get_running_loop()

    async def live() -> HttpReply:
        with _asking(request):
            return await ask()

    async def send() -> HttpReply:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(live(), loop))

    try:
        return served(await recording.thread(recording.recorder.answer(request, recording.send(request, send))))
    except EvalsError as error:
        return refused(str(error))


def recorded(sent: SentRequest) -> HttpAnswer | None:
    """The recorded answer where a replay gives one; None, and nothing has happened, for every other request."""
    trial = current_trial.get()
    if trial is None or trial.closed or trial.recording is not None or is_live():
        return None
    if trial.hosts.route(sent.host, sent.path) != "cassette":
        return None
    found = heard(_request(sent, trial.hosts).key)
    return None if found is None else served(found)


def record_result(request: IncomingRequest, trial: TargetTrial, reply: HttpReply) -> Interaction:
    """Record a result that is no HTTP answer, and return it as a replay will give it. Raises EvalsError."""

    async def send() -> HttpReply:
        return reply

    if trial.recording is None:
        raise MissError(f"{request.path}: this trial records nothing")
    return trial.recording.thread.wait(trial.recording.recorder.answer(request, send))


def _route(sent: SentRequest) -> HttpAnswer | tuple[IncomingRequest, Recording] | None:
    """What becomes of a request: an answer, a request for the recorder, or None for one that goes out as it is."""
    if is_live():
        return None
    trial = current_trial.get()
    target = scrub(f"{sent.method} {sent.host}{sent.path.partition('?')[0]}")
    if trial is None or trial.closed:
        return _outside(sent, target)
    route = trial.hosts.route(sent.host, sent.path)
    if route == "live":
        trial.passed.append(target)
        return None
    if route == "refuse":
        return refused(trial.refuse(f"{target}: not let through; {advice(sent.host)}"))
    try:
        request = _request(sent, trial.hosts)
    except ValueError:
        message = f"{target}: a binary body cannot be recorded; name {scrub(sent.host)} in `pass_through` of [target]"
        return refused(trial.refuse(message))
    return _recorded(lambda: play(request)) if trial.recording is None else (request, trial.recording)


def _outside(sent: SentRequest, target: str) -> HttpAnswer | None:
    """As `_route`, for a request that no trial makes."""
    importing, is_model = at_import.get(), is_model_path(sent.path)
    if importing is not None:
        live = importing.hosts.route(sent.host, sent.path) == "live"
        return None if live else refused(importing.refuse(target, scrub(sent.host), is_model=is_model))
    message = f"{target}: sent outside of a trial, so it is not answered; {THREADS}"
    for each in _running if is_model else ():  # one of them lacks the answer, and would not say so
        each.refuse(message)
    return refused(message)


def _request(sent: SentRequest, hosts: Hosts) -> IncomingRequest:
    """The request as a cassette knows it. Two services of a user may have the same paths, so those keep their host."""
    path = without_credentials(sent.path)
    shown = f"/{sent.host}{path}" if sent.host in hosts.record else path
    return IncomingRequest(sent.method, shown, request_object(sent.body), sent.agent or agent_name())


THREADS: Final = "start threads by contextvars.copy_context().run, and make no request before or after a run"


def advice(host: str) -> str:
    """What to do about a host that is not let through."""
    settings = "`pass_through`" if host in LIBRARY_FILES else "`record` or `pass_through`"
    return f"{LIBRARY_FILES.get(host, '')}name {scrub(host)} in {settings} of [target] in evals.toml"


def _recorded(find: Callable[[], Interaction]) -> HttpAnswer:
    try:
        return served(find())
    except EvalsError as error:  # it is in the ledger of the trial
        return refused(str(error))


@contextmanager
def _asking(request: IncomingRequest) -> Iterator[None]:
    """Requests inside the block go to the network. Raises RecordingError for whatever an HTTP library raises."""
    with live_traffic():
        try:
            yield
        except EvalsError:
            raise
        except Exception as error:  # noqa: BLE001 - each library has its own errors
            raise unreachable(request, error, nobody_there="Connect" in type(error).__name__) from None


def location() -> tuple[tuple[str, ...], str, str]:
    """Where in the graph the current code runs: path of node names from the outermost graph, id of the task, and the
    name of the agent (`create_agent(name=...)`). Empty outside of a graph."""
    try:
        metadata = get_config().get("metadata") or {}
    except RuntimeError:
        return (), "", ""
    parts = [part.split(":") for part in str(metadata.get("langgraph_checkpoint_ns") or "").split("|") if part]
    path = tuple(part[0] for part in parts) or tuple(filter(None, [str(metadata.get("langgraph_node") or "")]))
    task = next((part[1] for part in reversed(parts) if len(part) > 1), "")
    return path, task, str(metadata.get("lc_agent_name") or "")


def agent_name() -> str:
    """Who makes the current request: the agent's name if it has one, else the path of nodes."""
    path, _, name = location()
    return name or "/".join(path) or "unknown"

"""Hooks into HTTP libraries, sockets and standard output that lead to the current trial.

`captured()` installs them for the process: httpx, httpx2, requests and aiohttp get their answers from `capture`. A
guard on sockets refuses every other connection that leaves the machine. What a target prints is kept with its trial.
"""

import asyncio
import functools
import importlib
import inspect
import io
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from contextvars import copy_context
from threading import Lock
from types import ModuleType, SimpleNamespace
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from evals.cassettes.live_answer import HttpReply
from evals.import_limits import ImportConnections, at_import
from evals.secret_filter import scrub
from evals.target.forced_choices import forcing_hook
from evals.target.http_bodies import HttpAnswer
from evals.target.http_capture import (
    THREADS,
    NotLetThroughError,
    SentRequest,
    TargetTrial,
    advice,
    answer,
    answer_async,
    current_trial,
    is_live,
    is_local,
)
from evals.target.sdk_shortcut import sdk_hooks
from evals.target.tools import tool_hooks

_lock: Final = Lock()
_undo: Final[list[tuple[Any, str, Any]]] = []
_depth = 0
_for_good: Final = ExitStack()
_OWN_SOCKETS: Final = (
    ("primp", "Client"),
    ("primp", "AsyncClient"),
    ("curl_cffi.requests", "Session"),
    ("curl_cffi.requests", "AsyncSession"),
)
"""Clients that connect in Rust or C, where no socket of Python's is seen; DuckDuckGo's search uses the first."""
_METHODS: Final = ("request", "get", "post", "put", "patch", "delete", "head", "options")


@contextmanager
def captured() -> Iterator[None]:
    """Inside the block every request of this process is answered by its trial, and refused without one.

    Blocks may be nested and may overlap in threads; the last to end removes the hooks. Traffic of the harness itself
    needs a block of `live_traffic()`.
    """
    global _depth  # noqa: PLW0603 - hooks of a process
    with _lock:
        _depth += 1
        if _depth == 1:
            _install()
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            while _depth == 0 and _undo:
                owner, name, original = _undo.pop()
                setattr(owner, name, original)


def stay_captured() -> None:
    """Keep the hooks as long as this process lives: a target's threads, such as exporters, outlive its trials."""
    _for_good.enter_context(captured())


def _install() -> None:
    for name in ("httpx", "httpx2"):
        if library := _library(name):
            _hook_httpx(library)
    if library := _library("requests"):
        _replace(library.adapters.HTTPAdapter, "send", _requests_send)
    if library := _library("aiohttp"):
        _replace(library.ClientSession, "_request", _aiohttp_request)
    _replace(socket.socket, "connect", _blocked_connect)
    _replace(socket.socket, "connect_ex", _blocked_connect)
    _replace(socket, "getaddrinfo", _blocked_lookup)
    _replace(ThreadPoolExecutor, "submit", _submit_in_context)
    for owner, name, wrap in (*tool_hooks(), *sdk_hooks(), forcing_hook()):
        _replace(owner, name, wrap)
    _block_own_sockets()
    _undo.append((sys, "stdout", sys.stdout))
    sys.stdout = _TrialOutput(sys.stdout)


def _block_own_sockets() -> None:
    """Libraries that connect in C or Rust, where no socket of Python's is seen."""
    for name in ("grpc._channel", "grpc.aio._channel"):
        if module := _library(name):
            _replace(module.Channel, "__init__", _blocked_grpc)
    for name, kind in _OWN_SOCKETS:
        owner = getattr(_library(name), kind, None)
        for method in _METHODS:
            if hasattr(owner, method):
                _replace(owner, method, _blocked_request)


def _replace(owner: Any, name: str, wrap: Callable[[Any], Any]) -> None:  # noqa: ANN401 - classes and modules
    original = getattr(owner, name)
    _undo.append((owner, name, original))
    setattr(owner, name, functools.wraps(original)(wrap(original)))


def _library(name: str) -> ModuleType | None:
    return sys.modules.get(name) or _imported(name)


@functools.cache  # what is not installed is looked for in every folder of `sys.path`, and this is asked for every trial
def _imported(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _hook_httpx(library: ModuleType) -> None:  # noqa: C901 - small functions for two libraries
    """For httpx and httpx2, which have the same names."""

    class Chunks(library.SyncByteStream, library.AsyncByteStream):  # type: ignore[name-defined,misc]
        """The chunks of a recorded answer, one at a time."""

        def __init__(self, chunks: tuple[bytes, ...]) -> None:
            self._chunks = chunks

        def __iter__(self) -> Iterator[bytes]:
            return iter(self._chunks)

        async def __aiter__(self) -> AsyncIterator[bytes]:
            for chunk in self._chunks:
                yield chunk

    def response(given: HttpAnswer) -> Any:  # noqa: ANN401 - of either library
        if len(given.chunks) == 1:
            return library.Response(given.status, headers=given.headers, content=given.body)
        return library.Response(given.status, headers=given.headers, stream=Chunks(given.chunks))

    def sent(request: Any, body: bytes) -> SentRequest:  # noqa: ANN401 - of either library
        url = request.url
        return SentRequest.of(request.method, url.host, url.raw_path.decode("ascii"), request.headers, body)

    def reply(found: Any, body: bytes) -> HttpReply:  # noqa: ANN401 - of either library
        headers = found.headers
        return HttpReply(found.status_code, headers.get("content-type", ""), body, headers.get("retry-after", ""))

    def wrap(original: Any) -> Any:  # noqa: ANN401 - a method
        def handle_request(self: Any, request: Any) -> Any:  # noqa: ANN401
            def ask() -> HttpReply:
                found = original(self, request)
                try:
                    return reply(found, found.read())
                finally:
                    found.close()

            given = answer(sent(request, request.read()), ask)
            return original(self, request) if given is None else response(given)

        return handle_request

    def wrap_async(original: Any) -> Any:  # noqa: ANN401 - a method
        async def handle_async_request(self: Any, request: Any) -> Any:  # noqa: ANN401
            async def ask() -> HttpReply:
                found = await original(self, request)
                try:
                    return reply(found, await found.aread())
                finally:
                    await found.aclose()

            given = await answer_async(sent(request, await request.aread()), ask)
            return await original(self, request) if given is None else response(given)

        return handle_async_request

    _replace(library.HTTPTransport, "handle_request", wrap)
    _replace(library.AsyncHTTPTransport, "handle_async_request", wrap_async)


def _requests_send(original: Any) -> Any:  # noqa: ANN401 - a method
    import urllib3  # noqa: PLC0415 - comes with requests

    def send(self: Any, request: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        url = urlsplit(request.url)
        body = request.body or b""
        if not isinstance(body, str | bytes):
            body = b"".join(body)  # a file or an iterator
            request.body = body
        path = f"{url.path or '/'}{'?' + url.query if url.query else ''}"
        content = body.encode() if isinstance(body, str) else body

        def ask() -> HttpReply:
            with original(self, request, *args, **kwargs) as found:
                headers = found.headers
                kind, wait = headers.get("content-type", ""), headers.get("retry-after", "")
                return HttpReply(found.status_code, kind, found.content, wait)

        given = answer(SentRequest.of(request.method, url.hostname or "", path, request.headers, content), ask)
        if given is None:
            return original(self, request, *args, **kwargs)
        raw = urllib3.HTTPResponse(
            body=io.BytesIO(given.body), headers=given.headers, status=given.status, preload_content=False
        )
        return self.build_response(request, raw)

    return send


def _aiohttp_request(original: Any) -> Any:  # noqa: ANN401 - a method
    async def _request(self: Any, method: str, str_or_url: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        url = self._build_url(str_or_url)
        if params := kwargs.get("params"):
            url = url.update_query(params)
        headers = {**self.headers, **dict(kwargs.get("headers") or {})}

        async def ask() -> HttpReply:
            async with await original(self, method, str_or_url, **{**kwargs, "raise_for_status": False}) as found:
                kind, wait = found.headers.get("content-type", ""), found.headers.get("retry-after", "")
                return HttpReply(found.status, kind, await found.read(), wait)

        try:
            body = _aiohttp_body(self, kwargs)
        except TypeError as error:
            trial = current_trial.get()
            message = f"{method} {url.host}: {error}; {advice(url.host or '')}"
            raise NotLetThroughError(trial.refuse(message) if trial else message) from None
        given = await answer_async(SentRequest.of(method, url.host or "", url.raw_path_qs, headers, body), ask)
        if given is None:
            return await original(self, method, str_or_url, **kwargs)
        response = _aiohttp_response(self, method, url, given)
        if kwargs.get("raise_for_status", self._raise_for_status):
            response.raise_for_status()
        return response

    return _request


def _aiohttp_response(session: Any, method: str, url: Any, given: HttpAnswer) -> Any:  # noqa: ANN401 - of aiohttp
    """A response that is there already: its stream has all chunks and its end."""
    library, protocol = importlib.import_module("aiohttp"), importlib.import_module("aiohttp.base_protocol")
    multidict = importlib.import_module("multidict")  # comes with aiohttp
    loop, headers = asyncio.get_running_loop(), multidict.CIMultiDictProxy(multidict.CIMultiDict(given.headers))
    told: dict[str, Any] = {"loop": loop, "session": session, "traces": []}
    told["request_info"] = library.RequestInfo(url, method, headers, url)
    told["stream_writer"] = SimpleNamespace(output_size=0)
    names = list(inspect.signature(library.ClientResponse.__init__).parameters)[3:]  # they differ between versions
    response = library.ClientResponse(method, url, **{name: told.get(name) for name in names})
    vars(response).update(status=given.status, reason="OK", _headers=headers, _raw_headers=())
    response.content = library.StreamReader(protocol.BaseProtocol(loop), limit=1 << 16, loop=loop)
    for chunk in given.chunks:
        response.content.feed_data(chunk)
    response.content.feed_eof()
    return response


def _aiohttp_body(session: Any, kwargs: dict[str, Any]) -> bytes:  # noqa: ANN401 - a ClientSession
    """The body as it would be sent. Raises TypeError for what is not known before it is sent."""
    data, value = kwargs.get("data"), kwargs.get("json")
    if value is not None:
        text = session.json_serialize(value)
        return text if isinstance(text, bytes) else str(text).encode()
    if data is None or isinstance(data, bytes):
        return data or b""
    if isinstance(data, str):
        return data.encode()
    if isinstance(data, dict | list | tuple):
        return urlencode(data).encode()
    raise TypeError(f"a body of type {type(data).__name__} cannot be recorded")


def _connecting() -> TargetTrial | ImportConnections | None:
    """Who connects: the current trial, or the import of a target."""
    trial = current_trial.get()
    return at_import.get() if trial is None or trial.closed else trial


def _refuse_host(host: str) -> None:
    """Note that the current code connects to a host. Raises NotLetThroughError if it must not."""
    if is_live():
        return
    trial = _connecting()
    if trial is None:
        if is_local(host):
            return
        raise NotLetThroughError(f"connection to {host}: made outside of a trial, so it is refused; {THREADS}")
    if not is_local(host) and host not in trial.hosts.pass_through and host not in trial.addresses:
        if isinstance(trial, ImportConnections):
            raise NotLetThroughError(trial.refuse(f"connection to {host}", scrub(host)))
        advised = f"name {scrub(host)} in `pass_through` of [target] in evals.toml to ask it live"
        raise NotLetThroughError(trial.refuse(f"connection to {host}: its library cannot be recorded; {advised}"))
    trial.addresses.add(host)


def _blocked_connect(original: Any) -> Any:  # noqa: ANN401 - a method
    def connect(self: Any, address: Any) -> Any:  # noqa: ANN401
        if self.family in {socket.AF_INET, socket.AF_INET6}:
            _refuse_host(str(address[0]))
        return original(self, address)

    return connect


def _blocked_lookup(original: Any) -> Any:  # noqa: ANN401 - a function
    def getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        name = host.decode() if isinstance(host, bytes) else str(host or "")
        _refuse_host(name)
        found = original(host, *args, **kwargs)
        trial = _connecting()
        if trial is not None and name in trial.hosts.pass_through:
            trial.addresses.update(str(each[4][0]) for each in found)
        return found

    return getaddrinfo


def _blocked_grpc(original: Any) -> Any:  # noqa: ANN401 - a method
    def __init__(self: Any, target: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401, N807
        name = target.decode() if isinstance(target, bytes) else str(target)
        if not name.startswith("unix:"):
            _refuse_host(urlsplit(f"//{name.split('://')[-1].lstrip('/')}").hostname or name)
        original(self, target, *args, **kwargs)

    return __init__


def _blocked_request(original: Any) -> Any:  # noqa: ANN401 - a method
    def request(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        url = next((str(word) for word in (kwargs.get("url"), *args) if "://" in str(word)), "")
        _refuse_host(urlsplit(url).hostname or type(self).__name__)
        return original(self, *args, **kwargs)

    return request


def _submit_in_context(original: Any) -> Any:  # noqa: ANN401 - a method
    """A thread pool of the target runs each task in the context of the code that submits it."""

    def submit(self: Any, task: Any, /, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        if current_trial.get() is None:
            return original(self, task, *args, **kwargs)
        return original(self, copy_context().run, task, *args, **kwargs)

    return submit


class _TrialOutput(io.TextIOBase):
    """Standard output that keeps with the trial what its target prints."""

    def __init__(self, inner: Any) -> None:  # noqa: ANN401 - whatever `sys.stdout` is
        self._inner = inner

    def write(self, text: str) -> int:
        trial = current_trial.get()
        if trial is None:
            return int(self._inner.write(text) or 0)
        trial.write(text)
        return len(text)

    def flush(self) -> None:
        self._inner.flush()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._inner, name)

"""A LangSmith on loopback: real HTTP, the endpoints its SDK uses, and faults on demand.

with a_langsmith() as service:
    service.faults.append(Fault("/runs/multipart", status=429, headers={"retry-after": "0"}))
    ... LANGSMITH_ENDPOINT=service.url ...
    assert not service.store.refused
"""

import contextlib
import json
import re
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Any
from urllib.parse import parse_qs, urlsplit

import zstandard
from requests_toolbelt.multipart.decoder import MultipartDecoder

from tests.builders.http_server import Handler, running
from tests.builders.langsmith_store import Refused, Store, text_of, v2_run

FLAGS = ("dataset_examples_multipart_enabled", "examples_multipart_enabled", "zstd_compression_enabled")
BATCHES = {
    "use_multipart_endpoint": True,
    "size_limit": 100,
    "size_limit_bytes": 20_971_520,
    "scale_up_qsize_trigger": 1000,
    "scale_up_nthreads_limit": 16,
    "scale_down_nempty_trigger": 4,
}
INFO = {"version": "0.18.0", "batch_ingest_config": BATCHES, "instance_flags": dict.fromkeys(FLAGS, True)}
PAGE = 100
EXAMPLES = r"/v1/platform/datasets/([\w-]+)/examples"


@dataclass
class Fault:
    """What befalls the next `times` requests whose `METHOD path` holds `at`: a status; a cut connection, before or
    `after` the request was obeyed; or only a wait."""

    at: str
    status: int = 0
    times: int = 1
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False
    after: bool = False
    until: Event | None = None
    """What the request waits for."""
    skip: int = 0
    """Requests that are let through first."""


@dataclass
class LangSmith:
    """The service: what it holds, what it was asked, what it takes at most (bytes), and what is to go wrong."""

    store: Store = field(default_factory=Store)
    faults: list[Fault] = field(default_factory=list)
    asked: list[tuple[str, int]] = field(default_factory=list)
    """`METHOD path`, and the size of the body in bytes."""
    limit: int = 20_971_520
    url: str = ""
    lock: Lock = field(default_factory=Lock)

    def count(self, what: str) -> int:
        """Requests whose `METHOD path` holds `what`."""
        return sum(what in asked for asked, _ in self.asked)

    def fault(self, asked: str) -> Fault | None:
        for one in self.faults:
            if one.at in asked and one.times:
                if one.skip:
                    one.skip -= 1
                    return None
                one.times -= 1
                return one
        return None

    def answer(self, asked: str, query: dict[str, list[str]], body: Any) -> Any:
        """What the endpoint says, as JSON."""
        for pattern, found in ROUTES:
            if match := re.fullmatch(pattern, asked):
                return found(self.store, query, body, *match.groups())
        raise Refused(404, f"no such endpoint: {asked}")


class _Handler(Handler):
    """One connection; `service` is set by the class made for it."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body leave together: apart, the second waits 40 ms for the first to be acknowledged
    service: LangSmith

    def _any(self) -> None:
        path = urlsplit(self.path).path
        asked = f"{self.command} {path}"
        raw = self.body()
        with self.service.lock:
            self.service.asked.append((asked, len(raw)))
            fault = self.service.fault(asked)
        if fault and fault.until:
            fault.until.wait()
        if fault and not fault.after and (fault.cut or fault.status):
            return self._break(fault)
        with self.service.lock:
            status, told = self._obey(asked, raw)
        if fault and fault.after:
            return self._break(fault)
        return self._say(status, told, {})

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _any

    def _obey(self, asked: str, raw: bytes) -> tuple[int, Any]:
        if len(raw) > self.service.limit:
            return 413, {"detail": "Payload too large"}
        parts = urlsplit(self.path)
        if not self.headers.get("x-api-key") and parts.path != "/info":
            return 401, {"detail": "Invalid token"}
        try:
            body = _body(dict(self.headers.items()), raw)
            return 200, self.service.answer(asked, parse_qs(parts.query), body)
        except Refused as refused:
            if refused.status == 422:
                self.service.store.refused.append(f"{asked}: {refused.why}")
            return refused.status, {"detail": refused.why}

    def _break(self, fault: Fault) -> None:
        if not fault.cut:
            return self._say(fault.status, {"detail": "planned"}, fault.headers)
        self.close_connection = True
        with contextlib.suppress(OSError):
            return self.connection.shutdown(socket.SHUT_RDWR)

    def _say(self, status: int, told: Any, headers: dict[str, str]) -> None:
        content = text_of(told).encode()
        self.answer(status, content, **{"content-type": "application/json", **headers})


@contextlib.contextmanager
def a_langsmith() -> Iterator[LangSmith]:
    """The service, answering at its `url` until the block ends."""
    service = LangSmith()
    with running(type("Handler", (_Handler,), {"service": service})) as server:
        service.url = server.url
        yield service


def _body(headers: dict[str, str], raw: bytes) -> Any:
    """JSON, or the parts of a multipart body, each of them JSON, by name."""
    told = {name.lower(): value for name, value in headers.items()}
    if told.get("content-encoding") == "zstd":
        raw = zstandard.ZstdDecompressor().decompressobj().decompress(raw)
    kind = told.get("content-type", "")
    if not kind.startswith("multipart/"):
        return json.loads(raw) if raw else None
    found = {}
    for part in MultipartDecoder(raw, kind).parts:
        name = re.search(rb'name="([^"]+)"', part.headers[b"Content-Disposition"])
        assert name is not None
        found[name[1].decode()] = json.loads(part.content)
    return found


def _some(rows: list[Any], query: dict[str, list[str]]) -> list[Any]:
    begin, most = int(query.get("offset", ["0"])[0]), int(query.get("limit", [str(PAGE)])[0])
    return rows[begin : begin + min(most, PAGE)]


def _named(rows: dict[str, Any], query: dict[str, list[str]]) -> list[Any]:
    wanted = query.get("name")
    return _some([row for row in rows.values() if not wanted or row["name"] == wanted[0]], query)


def _examples(store: Store, query: dict[str, list[str]], _: Any) -> list[Any]:
    rows = [row for row in store.examples.values() if row["dataset_id"] == query.get("dataset", [row["dataset_id"]])[0]]
    wanted = query.get("id")
    return _some([row for row in rows if not wanted or row["id"] in wanted], query)


def _feedback(store: Store, query: dict[str, list[str]], _: Any) -> list[Any]:
    return _some([row for row in store.feedback.values() if row.get("run_id") in query.get("run", [])], query)


def _runs(store: Store, _: Any, body: Any) -> Any:
    rows = [run for run in store.runs.values() if run["session_id"] in body["project_ids"]]
    if body.get("ids"):
        rows = [run for run in rows if run["dotted_order"][-36:] in body["ids"]]
    if body.get("is_root") is not None:
        rows = [run for run in rows if ("." not in run["dotted_order"]) == body["is_root"]]
    if body.get("trace_id"):
        rows = [run for run in rows if run["trace_id"] == body["trace_id"]]
    begin, most = int(body.get("cursor") or 0), int(body.get("page_size") or PAGE)
    following = str(begin + most) if begin + most < len(rows) else None
    return {"items": [v2_run(run) for run in rows[begin : begin + most]], "next_cursor": following}


def _put_examples(store: Store, _: Any, body: Any, method: str, one: str) -> Any:
    return store.put_examples(one, body, new=method == "POST")


def _ingest(store: Store, _: Any, body: Any) -> Any:
    store.ingest(body)
    return {"message": "accepted"}


def _one(rows: dict[str, Any], one: str) -> Any:
    if one not in rows:
        raise Refused(404, f"{one} not found")
    return rows[one]


def _patched(store: Store, _: Any, body: Any, one: str) -> Any:
    told = _one(store.sessions, one)
    told.update({name: value for name, value in body.items() if value is not None})
    return told


def _kept_feedback(store: Store, _: Any, body: Any) -> Any:
    store.put_feedback(body)
    return body


ROUTES: tuple[tuple[str, Callable[..., Any]], ...] = (
    (r"GET /info", lambda *_: INFO),
    (r"GET /sessions", lambda store, query, _: _named(store.sessions, query)),
    (r"POST /sessions", lambda store, query, body: store.new_session(body, upsert="upsert" in query)),
    (r"GET /sessions/([\w-]+)", lambda store, _, __, one: _one(store.sessions, one)),
    (r"PATCH /sessions/([\w-]+)", _patched),
    (r"GET /datasets", lambda store, query, _: _named(store.datasets, query)),
    (r"POST /datasets", lambda store, _, body: store.new_dataset(body)),
    (r"GET /datasets/([\w-]+)", lambda store, _, __, one: _one(store.datasets, one)),
    (r"GET /examples", _examples),
    (rf"(POST|PATCH) {EXAMPLES}", _put_examples),
    (r"POST /runs/multipart", _ingest),
    (r"POST /api/v2/runs/query", _runs),
    (r"GET /feedback", _feedback),
    (r"POST /feedback", _kept_feedback),
)

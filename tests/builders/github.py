"""GitHub's REST interface for issues, on loopback: it keeps what is posted, and gives it back page by page."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

PAGE = 2
"""Texts on one page: GitHub's hundred would hide a reader that stops at the first."""


@dataclass
class FakeGitHub:
    """One repository, `shop/carts`, with issue 7. `refuse` may answer a request with another status; `posted` hears of
    each text after it was kept, before it is answered; `garble` may answer it with something else and a good status."""

    url: str = ""
    issues: list[dict[str, Any]] = field(default_factory=list)
    comments: list[dict[str, Any]] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    refuse: Callable[[str, str], int | None] = lambda _method, _path: None
    posted: Callable[[str], None] = lambda _path: None
    garble: Callable[[str, str], bytes | None] = lambda _method, _path: None

    @property
    def issue(self) -> str:
        """The issue's web address."""
        return f"{self.url}/shop/carts/issues/7"

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: dict[str, Any]) -> Any:
        """What a request gets; None: there is no such thing."""
        kept = {"/repos/shop/carts/issues/7/comments": self.comments, "/repos/shop/carts/issues": self.issues}.get(path)
        if method == "POST" and kept is not None:
            kept.append({**body, "html_url": f"{self.url}{path.removeprefix('/repos')}#{len(kept) + 1}"})
            self.posted(path)
            return kept[-1]
        if path == "/repos/shop/carts/issues/7":
            return {"title": "Cart total is wrong", "body": "Two items, one price.", "html_url": self.issue}
        if path == "/repos/shop/carts/issues/8":
            return {"title": "A change", "body": "", "html_url": f"{self.url}/shop/carts/pull/8", "pull_request": {}}
        page = int(query.get("page", ["1"])[0])
        return None if kept is None else kept[(page - 1) * PAGE : page * PAGE]


@contextmanager
def a_github() -> Iterator[FakeGitHub]:
    """The interface, until the block ends; web addresses have the same host."""
    told = FakeGitHub()

    class Handler(BaseHTTPRequestHandler):
        def _any(self, method: str) -> None:
            parts = urlsplit(self.path)
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            told.tokens.append(self.headers.get("authorization", ""))
            status = told.refuse(method, parts.path)
            found = None if status else told.answer(method, parts.path, parse_qs(parts.query), json.loads(raw or b"{}"))
            status = status or (404 if found is None else 201 if method == "POST" else 200)
            content = json.dumps({"message": "no"} if found is None else found).encode()
            content = content if (other := told.garble(method, parts.path)) is None else other
            self.send_response(status)
            self.send_header("content-length", str(len(content)))
            if isinstance(found, list) and len(found) == PAGE:
                page = int(parse_qs(parts.query).get("page", ["1"])[0])
                self.send_header("link", f'<{told.url}{parts.path}?page={page + 1}>; rel="next"')
            self.end_headers()
            self.wfile.write(content)

        def do_GET(self) -> None:
            self._any("GET")

        def do_POST(self) -> None:
            self._any("POST")

        def log_message(self, *_: object) -> None:
            """Silence: a test's output is its own."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    told.url = f"http://127.0.0.1:{server.server_port}"
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield told
    finally:
        server.shutdown()
        server.server_close()

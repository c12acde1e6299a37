"""GitHub's REST interface for issues, on loopback: it keeps what is posted, gives it back page by page, and refuses as
GitHub does.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.builders.http_server import Handler, running

PAGE = 2
"""Texts on one page: GitHub's hundred would hide a reader that stops at the first."""
REPORTER = {"login": "jane", "id": 11, "type": "User"}
PASSER_BY = {"login": "joe", "id": 12, "type": "User"}
BOT = {"login": "github-actions[bot]", "id": 41898282, "type": "Bot"}
Refused = tuple[int, Mapping[str, Any], Mapping[str, str]]
"""Status, JSON body and headers of an answer that refuses."""


def an_invalid(field: str, value: object) -> Refused:
    """What GitHub says of a field that it does not accept."""
    error = {"value": value, "resource": "Issue", "field": field, "code": "invalid"}
    return 422, {"message": "Validation Failed", "errors": [error], "status": "422"}, {}


def a_rate_limit(status: int = 403, **headers: str) -> Refused:
    """What GitHub says when it was asked too often."""
    told = {name.replace("_", "-"): value for name, value in headers.items()}
    return status, {"message": "API rate limit exceeded for user ID 1."}, told


@dataclass
class FakeGitHub:
    """One repository, `shop/carts`, with issue 7. `refuse` may answer a request with another status, or as GitHub would
    in full; `posted` hears of each text after it was kept, before it is answered; `garble` may answer it with something
    else and a good status. What is posted is the bot's. `renamed` is an older name of the repository."""

    url: str = ""
    issues: list[dict[str, Any]] = field(default_factory=list)
    comments: list[dict[str, Any]] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    labels: list[str] = field(default_factory=lambda: ["bug", "enhancement", "wontfix"])
    assignable: list[str] = field(default_factory=lambda: ["jane"])
    tokens: list[str] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)
    refuse: Callable[[str, str], int | Refused | None] = lambda _method, _path: None
    posted: Callable[[str], None] = lambda _path: None
    garble: Callable[[str, str], bytes | None] = lambda _method, _path: None
    renamed: str = ""
    reporter: Mapping[str, Any] | None = field(default_factory=lambda: REPORTER)
    state_reason: str | None = None

    @property
    def issue(self) -> str:
        """The issue's web address."""
        return f"{self.url}/shop/carts/issues/7"

    def says(self, user: Mapping[str, Any], body: str, day: int = 1) -> None:
        """Somebody comments on the issue."""
        where = f"{self.issue}#issuecomment-{len(self.comments) + 1}"
        written = f"2026-05-{day:02}T10:00:00Z"
        self.comments.append({"body": body, "html_url": where, "user": user, "created_at": written})

    def mentions(self, number: int, title: str, repository: str = "shop/carts", **pull: Any) -> None:
        """Another issue, or with `pull` a pull request, names the issue."""
        kind = "pull" if pull else "issues"
        source = {"number": number, "title": title, "state": "closed" if pull.get("merged_at") else "open"}
        source |= {"html_url": f"{self.url}/{repository}/{kind}/{number}"} | ({"pull_request": pull} if pull else {})
        self.events.append({"event": "cross-referenced", "source": {"type": "issue", "issue": source}})

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: dict[str, Any]) -> Any:
        """What a request gets; None: there is no such thing."""
        path = path.replace("/repositories/1", "/repos/shop/carts", 1)
        lists = {
            "/repos/shop/carts/issues/7/comments": self.comments,
            "/repos/shop/carts/issues": self.issues,
            "/repos/shop/carts/issues/7/timeline": self.events,
            "/repos/shop/carts/labels": [{"name": name} for name in self.labels],
        }
        kept = lists.get(path)
        if method == "POST" and kept is not None:
            where = f"{self.url}{path.removeprefix('/repos')}#{len(kept) + 1}"
            kept.append({**body, "html_url": where, "user": BOT, "created_at": "2026-05-20T10:00:00Z"})
            self.posted(path)
            return kept[-1]
        if path == "/repos/shop/carts/issues/7":
            told = {"title": "Cart total is wrong", "body": "Two items, one price.", "html_url": self.issue}
            return {**told, "user": self.reporter, "state_reason": self.state_reason}
        if path == "/repos/shop/carts/issues/8":
            return {"title": "A change", "body": "", "html_url": f"{self.url}/shop/carts/pull/8", "pull_request": {}}
        page = int(query.get("page", ["1"])[0])
        return None if kept is None else kept[(page - 1) * PAGE : page * PAGE]

    def refusal(self, method: str, path: str, body: dict[str, Any]) -> Refused | None:
        """How a request is refused, if it is."""
        found = self.refuse(method, path)
        if found is not None:
            return (found, {"message": "no"}, {}) if isinstance(found, int) else found
        if self.renamed and path.startswith(f"/repos/{self.renamed}/"):
            new = f"{self.url}/repositories/1/{path.removeprefix(f'/repos/{self.renamed}/')}"
            return 301 if method == "GET" else 307, {"message": "Moved Permanently", "url": new}, {"location": new}
        strangers = [name for name in body.get("assignees", ()) if name not in self.assignable]
        if method == "POST" and strangers:
            return an_invalid("assignees", strangers[0])
        return None


@contextmanager
def a_github() -> Iterator[FakeGitHub]:
    """The interface, until the block ends; web addresses have the same host."""
    told = FakeGitHub()

    class Issues(Handler):
        def _any(self, method: str) -> None:
            parts = urlsplit(self.path)
            body = json.loads(self.body() or b"{}")
            told.tokens.append(self.headers.get("authorization", ""))
            told.asked.append((method, parts.path))
            query = parse_qs(parts.query)
            refused = told.refusal(method, parts.path, body)
            found = None if refused else told.answer(method, parts.path, query, body)
            status, said, headers = refused or (200, found, {})
            if refused is None:
                status = 404 if found is None else 201 if method == "POST" else 200
            content = json.dumps({"message": "no"} if said is None else said).encode()
            content = content if (other := told.garble(method, parts.path)) is None else other
            further = dict(headers)
            if isinstance(found, list) and (links := self._links(parts.path, query, full=len(found) == PAGE)):
                further["link"] = links
            self.answer(status, content, **further)

        def _links(self, path: str, query: dict[str, list[str]], *, full: bool) -> str:
            page, links = int(query.get("page", ["1"])[0]), []
            last = -(-len(told.comments) // PAGE) if path.endswith("/comments") else 0
            links += [(page + 1, "next")] if full else []
            links += [(last, "last")] if full and last > page else []
            links += [(page - 1, "prev")] if page > 1 else []
            return ", ".join(f'<{told.url}{path}?page={n}>; rel="{name}"' for n, name in links)

        def do_GET(self) -> None:
            self._any("GET")

        def do_POST(self) -> None:
            self._any("POST")

    with running(Issues) as server:
        told.url = server.url
        yield told

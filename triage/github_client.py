"""GitHub issues: read, comment and create, each once."""

import datetime as dt
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, Self, TypeVar
from urllib.parse import urlsplit

import httpx
from pydantic import BaseModel, RootModel, ValidationError

from evals.shared.secrets.rule import hold
from triage.errors import ConfigurationError, HostError, InputError, TriageError
from triage.issue import Comment, Issue, Link, discussion_text, form_body
from triage.settings import host_of, is_loopback, without_login

PUBLIC: Final = "https://api.github.com"
TIMEOUT_S: Final = 60
"""For each step of an answer, and for an answer as a whole once it has begun."""
MAX_ANSWER_BYTES: Final = 50_000_000
"""A page of 100 comments, each of the 65,536 characters that GitHub allows, takes 7 MB, and 40 MB as escaped JSON."""
MAX_PAGES: Final = 1_000
"""Pages of a list that is read to its end, of a hundred texts each."""
PAGES: Final = 10
"""Pages of comments and events that are read, of a hundred each."""
REDIRECTS: Final = 4
_OF_TRANSFER: Final = ("content-encoding", "content-length", "transfer-encoding")
_PATH: Final = re.compile(r"/(?P<owner>[\w.-]+)/(?P<name>[\w.-]+)/issues/(?P<number>[1-9]\d*)/?")


@dataclass(frozen=True)
class IssueAddress:
    """An issue by its place: `repository` as owner/name."""

    repository: str
    number: int

    @property
    def path(self) -> str:
        """Its path below the interface."""
        return f"/repos/{self.repository}/issues/{self.number}"

    @classmethod
    def of(cls, url: str, api: str) -> Self:
        """The place an issue's web address names.

        Raises:
            InputError: it names none, or one on another host than `api` serves.
        """
        parts = urlsplit(url)
        found = _PATH.fullmatch(parts.path)
        if parts.scheme not in ("http", "https") or found is None:
            raise InputError(f"{url!r} is no issue; give its address, as in https://github.com/OWNER/REPO/issues/7")
        if urlsplit(api).netloc not in (parts.netloc, f"api.{parts.netloc}"):
            raise InputError(f"{url}: is not served by {api}; set GITHUB_API_URL to the interface of {parts.netloc}")
        return cls(f"{found['owner']}/{found['name']}", int(found["number"]))


class User(BaseModel):
    """Who wrote something; `type` is "Bot" for programs."""

    id: int
    login: str
    type: str = "User"

    @property
    def is_bot(self) -> bool:
        """Whether it is a program."""
        return self.type != "User" or self.login.endswith("[bot]")


class Text(BaseModel):
    """An issue or a comment: where it is seen, what it says, who wrote it (None: an account that was deleted)."""

    html_url: str
    body: str | None = None
    user: User | None = None
    created_at: str = ""


class _Issue(Text):
    title: str
    pull_request: object = None
    state_reason: str | None = None


class _Texts(RootModel[list[Text]]):
    pass


class _Label(BaseModel):
    name: str


class _Labels(RootModel[list[_Label]]):
    pass


class _Source(BaseModel):
    """An issue or a pull request that names this one."""

    number: int
    title: str
    state: str
    html_url: str
    pull_request: dict[str, Any] | None = None

    def link(self, repository: str) -> Link | None:
        """As a link, if it is of the same repository: the title of a private one must not come to light."""
        if f"/{repository}/".lower() not in self.html_url.lower():
            return None
        if self.pull_request is None:
            return Link("Issue", self.number, self.title, self.state)
        return Link(
            "Pull request", self.number, self.title, "merged" if self.pull_request.get("merged_at") else self.state
        )


class _Event(BaseModel):
    event: str = ""
    source: dict[str, Any] | None = None


class _Events(RootModel[list[_Event]]):
    pass


Said = TypeVar("Said", bound=BaseModel)


@dataclass(frozen=True)
class GitHub:
    """The interface, asked through one client; `say` hears what a user should know, such as a renamed repository."""

    client: httpx.Client
    say: Callable[[str], None] = lambda _line: None
    _told: set[str] = field(default_factory=set)

    def issue(self, place: IssueAddress) -> Issue:
        """The issue at `place` with its discussion. Raises InputError for a pull request, or where there is none;
        HostError."""
        raw = self._issue(place)
        comments = [
            Comment(
                each.user.login if each.user else "",
                each.created_at,
                each.body or "",
                bool(each.user and each.user.is_bot),
            )
            for each in self._newest(f"{place.path}/comments")
        ]
        notes = ["This issue is closed as a duplicate."] if raw.state_reason == "duplicate" else []
        discussion = discussion_text(comments, list(self._links(place)), notes)
        return Issue(raw.title.strip(), form_body(raw.body or ""), raw.html_url, discussion)

    def reporter(self, place: IssueAddress) -> User | None:
        """Who opened the issue; None: an account that was deleted."""
        return self._issue(place).user

    def comments(self, place: IssueAddress) -> Iterator["Text"]:
        """Every comment of the issue, the oldest first."""
        return self._all(f"{place.path}/comments", {})

    def issues(self, repository: str, since: str) -> Iterator["Text"]:
        """Every issue, open or closed, that was touched after `since` (ISO, UTC)."""
        return self._all(f"/repos/{repository}/issues", {"state": "all", "since": since})

    def labels(self, repository: str) -> list[str]:
        """The names of the repository's labels."""
        pages = self._pages(f"/repos/{repository}/labels", {})
        return [label.name for page in pages for label in _said(page, _Labels).root]

    def comment(self, place: IssueAddress, body: str) -> str:
        """Post a comment; returns its address."""
        return _said(self._asked("POST", f"{place.path}/comments", {"body": body}), Text).html_url

    def open_issue(self, repository: str, fields: dict[str, Any]) -> str:
        """Open an issue; returns its address."""
        return _said(self._asked("POST", f"/repos/{repository}/issues", fields), Text).html_url

    def _issue(self, place: IssueAddress) -> _Issue:
        raw = _said(self._asked("GET", place.path), _Issue)
        if raw.pull_request is not None:
            raise InputError(f"{raw.html_url}: is a pull request; give the address of an issue")
        return raw

    def _links(self, place: IssueAddress) -> Iterator[Link]:
        """Pull requests and issues of the same repository that name this issue; none where the host does not say."""
        try:
            pages = [_said(page, _Events) for page in islice(self._pages(f"{place.path}/timeline", {}), PAGES)]
        except TriageError as error:
            self.say(f"linked pull requests are not known: {error}")
            return
        for event in (event for page in pages for event in page.root if event.event == "cross-referenced"):
            with suppress(ValidationError):
                if link := _Source.model_validate((event.source or {}).get("issue")).link(place.repository):
                    yield link

    def _newest(self, path: str) -> list["Text"]:
        """The texts of the first page and of the newest `PAGES` others, the oldest first."""
        first = self._page(path, {})
        older = _linked(first, "last")
        if older is None:
            return [text for page in islice(self._from(first), PAGES + 1) for text in _said(page, _Texts).root]
        newest: list[list[Text]] = []
        while older and len(newest) < PAGES and str(httpx.URL(older).params.get("page", "1")) != "1":
            page = self._following(older)
            newest.insert(0, _said(page, _Texts).root)
            older = _linked(page, "prev")
        return [*_said(first, _Texts).root, *(text for texts in newest for text in texts)]

    def _all(self, path: str, query: dict[str, str]) -> Iterator["Text"]:
        """Page after page, as the answers link them."""
        for page in self._pages(path, query):
            yield from _said(page, _Texts).root

    def _pages(self, path: str, query: dict[str, str]) -> Iterator[httpx.Response]:
        return self._from(self._page(path, query))

    def _from(self, response: httpx.Response) -> Iterator[httpx.Response]:
        yield response
        pages = 1
        while following := _linked(response, "next"):
            if (pages := pages + 1) > MAX_PAGES:
                raise HostError(f"{self.client.base_url}: lists more than {MAX_PAGES:,} pages; nothing was posted")
            response = self._following(following)
            yield response

    def _page(self, path: str, query: dict[str, str]) -> httpx.Response:
        return self._asked("GET", str(httpx.URL(path, params={**query, "per_page": "100"})))

    def _following(self, url: str) -> httpx.Response:
        if not self._is_ours(url):  # the token goes nowhere else
            raise HostError(f"{url}: is on another host than {self.client.base_url}; nothing was posted")
        return self._asked("GET", url)

    def _is_ours(self, url: str) -> bool:
        asked, ours = httpx.URL(url), self.client.base_url
        return (asked.scheme, asked.netloc) == (ours.scheme, ours.netloc)

    def _asked(self, method: str, path: str, body: dict[str, Any] | None = None) -> httpx.Response:
        """The answer. A renamed repository is followed on the same host, and told.

        Raises:
            InputError: the host refuses. HostError: it fails, has no time, or sends us to another host.
        """
        for _ in range(REDIRECTS):
            response = self._sent(method, path, body)
            if response.status_code not in (301, 302, 307, 308):
                break
            moved = str(response.request.url.join(response.headers.get("location", "")))
            if not self._is_ours(moved):
                raise HostError(f"{response.request.url}: leads to another host ({moved}), where no token is sent")
            self._tell_once("the repository was renamed or moved: its new address was followed; name it so from now on")
            path = moved
        if response.is_success:
            return response
        raise refusal(response, with_token="authorization" in self.client.headers)

    def _tell_once(self, line: str) -> None:
        if line not in self._told:
            self._told.add(line)
            self.say(line)

    def _sent(self, method: str, path: str, body: dict[str, Any] | None) -> httpx.Response:
        try:
            return self._read(method, path, body)
        except httpx.HTTPError as error:
            address = path if "://" in path else f"{self.client.base_url}{path.lstrip('/')}"
            raise HostError(f"{address}: no answer ({error or type(error).__name__})") from error

    def _read(self, method: str, path: str, body: dict[str, Any] | None) -> httpx.Response:
        """The whole answer. Raises HostError where it is too long or takes too long, httpx.HTTPError."""
        content, began = bytearray(), time.monotonic()
        with self.client.stream(method, path, json=body) as response:
            for part in response.iter_bytes():
                content += part
                if len(content) > MAX_ANSWER_BYTES:
                    raise HostError(f"{response.request.url}: the answer is over {MAX_ANSWER_BYTES:,} bytes; not read")
                if time.monotonic() - began > TIMEOUT_S:
                    raise HostError(f"{response.request.url}: the answer is not whole after {TIMEOUT_S} s; not read")
        headers = [(name, value) for name, value in response.headers.multi_items() if name not in _OF_TRANSFER]
        return httpx.Response(response.status_code, headers=headers, content=bytes(content), request=response.request)


def _linked(response: httpx.Response, name: str) -> str | None:
    """The page that an answer links by this name."""
    return response.links.get(name, {}).get("url")


def api_url() -> str:
    """Where the interface is.

    Raises:
        ConfigurationError: it is asked in clear text over a network, or its address holds a login.
    """
    url = (os.environ.get("GITHUB_API_URL") or PUBLIC).rstrip("/")
    if without_login(url) != url:
        raise ConfigurationError("GITHUB_API_URL: holds a login; take it out, GITHUB_TOKEN says who asks")
    if urlsplit(url).scheme != "https" and not (url.startswith("http://") and is_loopback(host_of(url))):
        raise ConfigurationError(f"GITHUB_API_URL: {url} is not https://, and GITHUB_TOKEN would be sent in clear text")
    return url


@contextmanager
def github(say: Callable[[str], None] = lambda _line: None) -> Iterator[GitHub]:
    """The interface the environment names; `say` hears what a user should know."""
    token = os.environ.get("GITHUB_TOKEN")
    hold(token or "")
    headers = {"accept": "application/vnd.github+json", "x-github-api-version": "2022-11-28"}
    headers |= {"authorization": f"Bearer {token}"} if token else {}
    with httpx.Client(base_url=api_url(), headers=headers, timeout=TIMEOUT_S) as client:
        yield GitHub(client, say)


def _said(response: httpx.Response, kind: type[Said]) -> Said:
    """The answer's content. Raises HostError where it is something else, as what a portal or a proxy says with 200."""
    try:
        return kind.model_validate_json(response.content)
    except ValidationError as error:
        request = response.request
        perhaps = "" if request.method == "GET" else "; it may have been posted all the same, the next try looks first"
        raise HostError(f"{request.url}: HTTP {response.status_code}, but no answer of GitHub's{perhaps}") from error


_REMEDIES: Final = {
    "assignee": "publish again with --no-assignee, or edit ticket.json",
    "assignees": "publish again with --no-assignee, or edit ticket.json",
    "labels": "edit the labels in ticket.json",
    "title": "edit the title in ticket.json",
    "body": "shorten comment.md or report.md",
}
"""What helps against a field that is not accepted."""


def refusal(response: httpx.Response, *, with_token: bool) -> TriageError:
    """The error for an answer that is no success: what was refused, why, and what to do. `with_token`: whether the
    request carried one.

    The forms are GitHub's: 422 names the fields it does not accept, a rate limit comes as 403 or 429 with `retry-after`
    or `x-ratelimit-reset`, and a private repository without access is a 404.
    """
    body = _body(response)
    said = f"{response.request.url}: HTTP {response.status_code}{_message(body)}"
    if wait := _wait(response, body):
        return HostError(f"{said}; GitHub's rate limit: try again {wait}")
    hidden = "GITHUB_TOKEN may not see it" if with_token else "it is private: set GITHUB_TOKEN"
    task = "writing issues" if response.request.method == "POST" else "reading issues"
    remedies = {
        401: "; GITHUB_TOKEN is wrong or has expired",
        403: f"; GITHUB_TOKEN may not do this: it has to allow {task}",
        404: f"; not found, or {hidden}",
        410: "; it was deleted, or issues are switched off there",
        422: _fields(body),
    }
    if response.status_code in remedies:
        return InputError(f"{said}{remedies[response.status_code]}")
    return HostError(f"{said}; try it again later")


def _body(response: httpx.Response) -> Mapping[str, Any]:
    try:
        found = response.json()
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _message(body: Mapping[str, Any]) -> str:
    message = body.get("message")
    return f" ({' '.join(message.split())[:300]})" if isinstance(message, str) and message else ""


def _wait(response: httpx.Response, body: Mapping[str, Any]) -> str:
    """How long to wait, in words; empty where it is no rate limit."""
    if response.status_code not in (403, 429):
        return ""
    headers = response.headers
    if (seconds := headers.get("retry-after", "")).isdecimal():
        return f"in {int(seconds)} seconds"
    reset = headers.get("x-ratelimit-reset", "")
    if headers.get("x-ratelimit-remaining") == "0" and reset.isdecimal() and len(reset) < 12:
        return f"after {dt.datetime.fromtimestamp(int(reset), dt.UTC):%Y-%m-%d %H:%M:%S} UTC"
    if response.status_code == 429 or "rate limit" in str(body.get("message")).lower():
        return "in a minute or more"
    return ""


def _fields(body: Mapping[str, Any]) -> str:
    """The fields that are not accepted, each with its value and a remedy."""
    told = list(_each_field(body.get("errors")))
    return f"; {'; '.join(told)}" if told else "; GitHub does not accept the text: shorten or edit it"


def _each_field(errors: object) -> Iterator[str]:
    for error in errors if isinstance(errors, list) else ():
        if not isinstance(error, dict):
            yield " ".join(str(error).split())[:200]
            continue
        field, why = str(error.get("field") or "?"), str(error.get("message") or error.get("code") or "not accepted")
        value = error.get("value")
        shown = "" if value is None else f" {' '.join(str(value).split())[:80]!r}"
        remedy = _REMEDIES.get(field)
        yield f"field {field}{shown}: {why}{f'; {remedy}' if remedy else ''}"

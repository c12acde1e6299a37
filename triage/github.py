"""Issues and comments over GitHub's REST interface, at the address GitHub Actions names: enterprise servers included.

`GITHUB_API_URL` says where (GitHub's own if it is not set), `GITHUB_TOKEN` who asks; a public issue needs nobody.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Self, TypeVar
from urllib.parse import urlsplit

import httpx
from pydantic import BaseModel, RootModel, ValidationError

from triage.errors import HostError, InputError
from triage.issue import Issue

PUBLIC: Final = "https://api.github.com"
TIMEOUT_S: Final = 60
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


class Text(BaseModel):
    """An issue or a comment: where it is seen, and what it says."""

    html_url: str
    body: str | None = None


class _Issue(Text):
    title: str
    pull_request: object = None


class _Texts(RootModel[list[Text]]):
    pass


Said = TypeVar("Said", bound=BaseModel)


@dataclass(frozen=True)
class GitHub:
    """The interface, asked through one client."""

    client: httpx.Client

    def issue(self, place: IssueAddress) -> Issue:
        """The issue at `place`. Raises InputError for a pull request, or where there is none; HostError."""
        raw = _said(self._asked("GET", place.path), _Issue)
        if raw.pull_request is not None:
            raise InputError(f"{raw.html_url}: is a pull request; give the address of an issue")
        return Issue(raw.title.strip(), (raw.body or "").strip(), raw.html_url)

    def comments(self, place: IssueAddress) -> Iterator["Text"]:
        """Every comment of the issue."""
        return self._all(f"{place.path}/comments", {})

    def issues(self, repository: str, since: str) -> Iterator["Text"]:
        """Every issue, open or closed, that was touched after `since` (ISO, UTC)."""
        return self._all(f"/repos/{repository}/issues", {"state": "all", "since": since})

    def comment(self, place: IssueAddress, body: str) -> str:
        """Post a comment; returns its address."""
        return _said(self._asked("POST", f"{place.path}/comments", {"body": body}), Text).html_url

    def open_issue(self, repository: str, fields: dict[str, Any]) -> str:
        """Open an issue; returns its address."""
        return _said(self._asked("POST", f"/repos/{repository}/issues", fields), Text).html_url

    def _all(self, path: str, query: dict[str, str]) -> Iterator["Text"]:
        """Page after page, as the answers link them."""
        response = self._asked("GET", str(httpx.URL(path, params={**query, "per_page": "100"})))
        yield from _said(response, _Texts).root
        while following := response.links.get("next", {}).get("url"):
            if httpx.URL(following).netloc != self.client.base_url.netloc:  # the token goes nowhere else
                raise HostError(f"{following}: is on another host than {self.client.base_url}; nothing was posted")
            response = self._asked("GET", following)
            yield from _said(response, _Texts).root

    def _asked(self, method: str, path: str, body: dict[str, Any] | None = None) -> httpx.Response:
        """The answer. Raises InputError where the host refuses, HostError where it fails."""
        try:
            response = self.client.request(method, path, json=body)
        except httpx.HTTPError as error:
            raise HostError(
                f"{self.client.base_url}{path.lstrip('/')}: no answer ({error or type(error).__name__})"
            ) from error
        if response.is_success:
            return response
        said = f"{response.request.url}: HTTP {response.status_code}{_message(response)}"
        if response.status_code in (401, 403, 404, 410, 422):
            raise InputError(f"{said}; is the address right, and may GITHUB_TOKEN do this?")
        raise HostError(f"{said}; try it again later")


def api_url() -> str:
    """Where the interface is."""
    return (os.environ.get("GITHUB_API_URL") or PUBLIC).rstrip("/")


@contextmanager
def github() -> Iterator[GitHub]:
    """The interface the environment names. It follows no redirect: a token goes to the host it was given for."""
    token = os.environ.get("GITHUB_TOKEN")
    headers = {"accept": "application/vnd.github+json", "x-github-api-version": "2022-11-28"}
    headers |= {"authorization": f"Bearer {token}"} if token else {}
    with httpx.Client(base_url=api_url(), headers=headers, timeout=TIMEOUT_S) as client:
        yield GitHub(client)


def _said(response: httpx.Response, kind: type[Said]) -> Said:
    """The answer's content. Raises HostError where it is something else, as what a portal or a proxy says with 200."""
    try:
        return kind.model_validate_json(response.content)
    except ValidationError as error:
        request = response.request
        perhaps = "" if request.method == "GET" else "; it may have been posted all the same, the next try looks first"
        raise HostError(f"{request.url}: HTTP {response.status_code}, but no answer of GitHub's{perhaps}") from error


def _message(response: httpx.Response) -> str:
    try:
        return f" ({' '.join(str(response.json()['message']).split())})"
    except (ValueError, LookupError, TypeError):
        return ""

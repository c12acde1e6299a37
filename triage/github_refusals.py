"""Error messages for answers in which GitHub refuses a request: what was refused, why, and what to do.

The forms are those of GitHub's REST documentation: 422 names the fields it does not accept, a rate limit comes as 403
or 429 with `retry-after` or `x-ratelimit-reset`, and a private repository without access is a 404.
"""

import datetime as dt
from collections.abc import Iterator, Mapping
from typing import Any, Final

import httpx

from triage.errors import HostError, InputError, TriageError

_REMEDIES: Final = {
    "assignee": "publish again with --no-assignee, or edit ticket.json",
    "assignees": "publish again with --no-assignee, or edit ticket.json",
    "labels": "edit the labels in ticket.json",
    "title": "edit the title in ticket.json",
    "body": "shorten comment.md or report.md",
}
"""What helps against a field that is not accepted."""


def refusal(response: httpx.Response, *, with_token: bool) -> TriageError:
    """The error for an answer that is no success. `with_token`: whether the request carried one."""
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

"""Reading of an issue file: Markdown with the title on its first line, or the JSON of `gh issue view --json …`.

Of the JSON, `title`, `body`, `url`, `comments` and `closedByPullRequestsReferences` are read.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TextIO

from triage.discussion import Comment, Link, discussion_text
from triage.errors import InputError

STDIN: Final = "-"
BOTS: Final = ("github-actions", "dependabot", "renovate", "codecov", "stale", "sentry-io")
"""Programs as `gh` names them, which leaves `[bot]` out."""
FIELDS: Final = "title,body,url,comments,closedByPullRequestsReferences"
"""What `gh issue view N --json` is asked for."""
_UNANSWERED: Final = re.compile(r"^### [^\n]+\n+_No response_[ \t]*(?:\n+|\Z)", re.MULTILINE)
"""A section of an issue form that the reporter left empty."""


@dataclass(frozen=True)
class Issue:
    """What the reporter wrote."""

    title: str
    body: str
    url: str = ""
    discussion: str = ""
    """Comments and linked pull requests, as `triage.discussion` puts them; empty where there are none."""


def read_issue(source: str, stdin: TextIO) -> Issue:
    """The issue in the file `source`, or on `stdin` if that is "-".

    Raises:
        InputError: nothing there, not text, empty, or JSON without a title.
    """
    text = (stdin.read() if source == STDIN else _text_of(Path(source))).strip()
    name = "standard input" if source == STDIN else source
    if not text:
        raise InputError(f"{name}: the issue is empty; write its title on the first line, then the body")
    return _from_json(text, name) if text.startswith("{") else _from_markdown(text)


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"{path}: no such issue file; give a path, or - for standard input") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = "not UTF-8 text" if isinstance(error, UnicodeDecodeError) else error.strerror
        raise InputError(f"{path}: the issue cannot be read ({reason})") from error


def _from_json(text: str, name: str) -> Issue:
    try:
        raw = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{name}:{error.lineno}: not valid JSON ({error.msg}); use `gh issue view N --json {FIELDS}`"
        ) from error
    title = raw.get("title")
    if not isinstance(title, str) or not title.strip():
        raise InputError(f"{name}: the JSON has no title; use `gh issue view N --json {FIELDS}`")
    discussion = discussion_text(list(_comments(raw.get("comments"))), list(_links(raw)))
    return Issue(title.strip(), form_body(str(raw.get("body") or "")), str(raw.get("url") or ""), discussion)


def form_body(body: str) -> str:
    """The body without the sections of an issue form (`### Heading`) that were left empty."""
    return _UNANSWERED.sub("", body.replace("\r\n", "\n")).strip()


def _comments(raw: object) -> Iterator[Comment]:
    """The comments that are not hidden on GitHub."""
    for each in raw if isinstance(raw, list) else ():
        if not isinstance(each, dict) or each.get("isMinimized"):
            continue
        author = each.get("author") if isinstance(each.get("author"), dict) else {}
        login = str((author or {}).get("login") or "")
        written, body = str(each.get("createdAt") or ""), str(each.get("body") or "")
        yield Comment(login, written, body, login.endswith("[bot]") or login in BOTS)


def _links(raw: dict[str, Any]) -> Iterator[Link]:
    found = raw.get("closedByPullRequestsReferences")
    for each in found if isinstance(found, list) else ():
        if isinstance(each, dict) and isinstance(each.get("number"), int):
            title, state = str(each.get("title") or "closes this issue"), str(each.get("state") or "linked").lower()
            yield Link("Pull request", each["number"], title, state)


def _from_markdown(text: str) -> Issue:
    first, _, rest = text.partition("\n")
    return Issue(first.lstrip("#").strip(), form_body(rest))

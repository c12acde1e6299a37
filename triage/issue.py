"""Issue files: Markdown or the JSON of `gh issue view`, and the bounded text of an issue's discussion."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TextIO

from triage.errors import InputError

LIMIT: Final = 6_000
"""Characters of all comments together."""
COMMENT_LIMIT: Final = 2_000
"""Characters of one comment."""
LINKS: Final = 20
TITLE_LIMIT: Final = 200
OWN_MARK: Final = "<!-- triage "
"""What comments of this program hold."""
_TRACE: Final = re.compile(
    r"Traceback \(most recent call last\)|^\s*File \"[^\"\n]+\", line \d+|^\s*at \S[^\n]*[(:]\S*:?\d+\)?|\bpanic: "
    r"|\bgoroutine \d+ \[|Exception in thread|thread '[^'\n]*' panicked|^\s*#\d+ +0x[0-9a-f]+ in ",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Comment:
    """One comment: who wrote it, when (ISO, UTC), and what it says."""

    author: str
    written: str
    body: str
    by_bot: bool = False


@dataclass(frozen=True)
class Link:
    """A pull request or an issue of the same repository that names this one; `state` as GitHub has it."""

    kind: str
    number: int
    title: str
    state: str


def discussion_text(comments: Sequence[Comment], links: Sequence[Link] = (), notes: Sequence[str] = ()) -> str:
    """The discussion under its headings; empty where there is none. `notes` are facts in a line each, such as that the
    issue is closed as a duplicate."""
    each_once = list({(link.kind, link.number): link for link in links}.values())
    told = [f"- {link.kind} #{link.number} ({link.state}): {_title(link.title)}" for link in each_once[:LINKS]]
    facts = [*(f"- {note}" for note in notes), *told]
    sections = [f"## Comments on the issue\n{_comments_discussion(comments)}"] if any(map(_counts, comments)) else []
    sections += ["\n".join(["## Linked pull requests and issues", *facts])] if facts else []
    return "\n\n".join(sections)


def discussion_block(discussion: str) -> str:
    """The discussion as the end of an issue's text in a prompt; nothing at all where there is none."""
    return f"\n\n{discussion}" if discussion else ""


def shortened(text: str, limit: int) -> str:
    """`text`, its middle left out where it is longer than `limit` characters."""
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 3
    return f"{text[:head]}\n[... {len(text) - head - tail} characters left out ...]\n{text[-tail:]}"


def _counts(comment: Comment) -> bool:
    return bool(comment.body.strip()) and OWN_MARK not in comment.body


def _comments_discussion(comments: Sequence[Comment]) -> str:
    told = {n: _told(comment) for n, comment in enumerate(comments) if _counts(comment)}
    by_worth = sorted(told, key=lambda n: (not _TRACE.search(comments[n].body), comments[n].by_bot, -n))
    kept, room = set[int](), LIMIT
    for n in by_worth:
        if len(told[n]) <= room:
            kept.add(n)
            room -= len(told[n])
    parts, left_out = list[str](), 0
    for n, text in told.items():
        if n not in kept:
            left_out += 1
            continue
        parts += [*_gap(left_out), text]
        left_out = 0
    return "\n\n".join([*parts, *_gap(left_out)])


def _gap(left_out: int) -> list[str]:
    return [f"[... {left_out} comment{'s' * (left_out > 1)} left out ...]"] if left_out else []


def _told(comment: Comment) -> str:
    """Quoted line by line, so that no comment can pass for another person's."""
    quoted = "\n".join(f"> {line}".rstrip() for line in shortened(comment.body.strip(), COMMENT_LIMIT).splitlines())
    return f"### {_title(comment.author) or 'unknown'}{' (bot)' * comment.by_bot}, {comment.written[:10]}\n{quoted}"


def _title(text: str) -> str:
    return " ".join(text.split())[:TITLE_LIMIT]


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
    """Comments and linked pull requests, as `triage.issue` puts them; empty where there are none."""


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

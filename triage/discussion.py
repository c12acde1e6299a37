"""The discussion of an issue as agents read it: comments, linked pull requests and issues, in a bounded text.

Where there are more comments than fit, those with a stack trace come first and then the newest; they are shown in the
order in which they were written. Comments of this program, and those that were hidden on GitHub, are left out.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

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
    told = [f"- {link.kind} #{link.number} ({link.state}): {_title(link.title)}" for link in _each_once(links)[:LINKS]]
    facts = [*(f"- {note}" for note in notes), *told]
    sections = [f"## Comments on the issue\n{_comments(comments)}"] if any(map(_counts, comments)) else []
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


def _comments(comments: Sequence[Comment]) -> str:
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


def _each_once(links: Sequence[Link]) -> list[Link]:
    return list({(link.kind, link.number): link for link in links}.values())

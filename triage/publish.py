"""What a job has written goes to its issue: the comment there, the ticket beside it, each of them once.

Both carry a mark of the job that no reader sees. Whether they are there already is asked of the host each time, so a
publishing that was killed, or made from another machine, posts nothing twice.
"""

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from triage.errors import InputError
from triage.github import GitHub, IssueAddress, Text
from triage.secrecy.held import hold
from triage.secrecy.rules import secrets_in
from triage.state import TicketDraft


@dataclass(frozen=True)
class Posts:
    """What is to be posted: the comment, and the fields of the ticket; both end in `mark`. `since` is the start of
    the day on which the job was begun (ISO, UTC): nothing of it can be older, however clocks differ."""

    place: IssueAddress
    comment: str
    ticket: dict[str, Any]
    mark: str
    since: str


def posts_of(folder: Path, place: IssueAddress, job: str, begun: tuple[str, str]) -> Posts:
    """What the files of a job say, as they are now: they may have been edited. `begun` is what the job's first step is
    called, and when it was.

    Raises:
        InputError: a file is missing or cannot be read, or a text holds what looks like a secret.
    """
    mark = f"<!-- triage job {job} {begun[0]} -->"
    comment, report = _text(folder / "comment.md"), _text(folder / "report.md")
    ticket = _ticket(folder / "ticket.json")
    fields: dict[str, Any] = {"title": ticket.title, "body": f"{report}\n\n{mark}\n", "labels": list(ticket.labels)}
    if ticket.assignee:
        fields["assignees"] = [ticket.assignee]
    _refuse_secrets({"comment.md": comment, "report.md": report, "ticket.json": json.dumps(ticket.model_dump())})
    return Posts(place, f"{comment}\n\n{mark}\n", fields, mark, f"{begun[1][:10]}T00:00:00Z")


def published(host: GitHub, posts: Posts) -> tuple[str | None, str | None]:
    """Addresses of comment and ticket, where they are there already."""
    comment = _marked(host.comments(posts.place), posts.mark)
    return comment, _marked(host.issues(posts.place.repository, posts.since), posts.mark)


def shown(posts: Posts, comment: str | None, ticket: str | None) -> str:
    """What publishing would do, word for word."""
    where = f"{posts.place.repository}#{posts.place.number}"
    labels = ", ".join(posts.ticket["labels"]) or "no labels"
    parts = [
        f"comment on {where}: is there already ({comment})" if comment else f"comment on {where}:\n\n{posts.comment}",
        f"ticket in {posts.place.repository}: is there already ({ticket})"
        if ticket
        else f"ticket in {posts.place.repository}: {posts.ticket['title']} ({labels})\n\n{posts.ticket['body']}",
        "nothing was posted: --yes does it",
    ]
    return "\n".join(parts)


def _marked(texts: Iterable[Text], mark: str) -> str | None:
    return next((text.html_url for text in texts if mark in (text.body or "")), None)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read; `triage run --resume` writes it anew") from error


def _ticket(path: Path) -> TicketDraft:
    try:
        return TicketDraft.model_validate_json(_text(path))
    except ValidationError as error:
        raise InputError(f"{path}: is no ticket any more ({error.errors()[0]['msg']}); mend it") from error


def _refuse_secrets(texts: dict[str, str]) -> None:
    """By the rules for cassettes, and the keys of this very process. E-mail addresses and random words are let pass:
    they stand in many an issue."""
    hold(*(value for name, value in os.environ.items() if name.endswith(("_KEY", "_TOKEN"))))
    for name, text in texts.items():
        found = [sighting.rule for sighting in secrets_in(text) if sighting.rule not in ("email", "high_entropy")]
        if found:
            raise InputError(f"{name}: holds what looks like a secret ({found[0]}); take it out. Nothing was posted")

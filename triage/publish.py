"""Publishing of a job: its comment on the issue, its ticket as a new issue, its question to the reporter, each once.

Each carries a mark of the job that no reader sees. The job remembers the address of what was posted; whether a post it
does not remember is there already is asked of the host, so a publishing that was killed, or made from another machine,
posts nothing twice.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from triage.discussion import shortened
from triage.errors import InputError
from triage.github import GitHub, IssueAddress, Text, User
from triage.outgoing import hold_own_keys, secret_in
from triage.payload import Posts, checked_posts
from triage.posted_text import effects_of
from triage.results import with_caveats
from triage.state import HumanExchange, TicketDraft
from triage.visible_text import one_line, visible

ASKED: Final = "_The answer is taken from the next comment of the person who opened this issue._"
ANSWER_LIMIT: Final = 4_000
"""Characters of an answer that are taken from the issue."""
_NAMES: Final = {"result": "comment", "question": "question"}


def posts_of(
    folder: Path,
    place: IssueAddress,
    job: str,
    begun: tuple[str, str],
    grave: Sequence[str] = (),
    *,
    assigned: bool = True,
) -> Posts:
    """What the files of a job say, as they are now: they may have been edited. `begun` is what the job's first step is
    called, and when it was. The `grave` caveats of the report stand above both texts, whatever the files say. The
    ticket goes to nobody unless it is to be `assigned`.

    Raises:
        InputError: a file is missing or cannot be read, or a text holds what looks like a secret.
    """
    mark = f"<!-- triage job {job} {begun[0]} -->"
    comment, report = (with_caveats(_text(folder / name), grave) for name in ("comment.md", "report.md"))
    ticket = _ticket(folder / "ticket.json")
    fields = {
        "title": ticket.title,
        "body": f"{report}\n\n{mark}\n",
        "labels": ticket.labels,
        "assignees": [ticket.assignee] if ticket.assignee and assigned else [],
    }
    _refuse_secrets({"comment.md": comment, "report.md": report, "ticket.json": json.dumps(ticket.model_dump())})
    return checked_posts(
        job=job,
        repository=place.repository,
        number=place.number,
        mark=mark,
        since=f"{begun[1][:10]}T00:00:00Z",
        comment=f"{comment}\n\n{mark}\n",
        ticket=fields,
    )


def question_of(place: IssueAddress, job: str, begun: tuple[str, str], question: HumanExchange) -> Posts:
    """The question a job waits at, as a comment for the reporter.

    Raises:
        InputError: it holds what looks like a secret, or is nothing that can be posted.
    """
    _refuse_secrets({"the question": f"{question.question}\n{question.context}"})
    mark = question_mark(job, begun[0], question)
    texts = [question.question.strip(), question.context.strip(), ASKED, mark]
    return checked_posts(
        kind="question",
        job=job,
        repository=place.repository,
        number=place.number,
        mark=mark,
        since=f"{begun[1][:10]}T00:00:00Z",
        comment="\n\n".join(text for text in texts if text) + "\n",
    )


def question_mark(job: str, begun: str, question: HumanExchange) -> str:
    """The mark of a question's comment. Nobody can know it before the question is posted: it depends on its words."""
    digest = hashlib.sha256(f"{question.question}\0{question.context}".encode()).hexdigest()[:16]
    return f"<!-- triage question {job} {begun} {digest} -->"


def answer_to(mark: str, comments: Iterable[Text], reporter: User) -> str | None:
    """The first comment of the reporter after the question with this mark; None where there is none yet. The account
    counts, not its name, and nobody else's answer does.

    Raises:
        InputError: the question was not posted there.
    """
    asked = False
    for comment in comments:
        if asked and comment.user and comment.user.id == reporter.id and (comment.body or "").strip():
            return shortened(str(comment.body).strip(), ANSWER_LIMIT)
        asked = asked or mark in (comment.body or "")
    if not asked:
        raise InputError("the question is not on the issue yet: `triage publish JOB --yes` posts it")
    return None


def published(host: GitHub, posts: Posts, known: Mapping[str, str]) -> tuple[str | None, str | None]:
    """Addresses of comment and ticket, where they are there already; `known` are those the job remembers."""
    comment, ticket = known.get(posts.comment_name), known.get(posts.ticket_name)
    if posts.comment and comment is None:
        comment = _marked(host.comments(posts.place), posts.mark)
    if posts.ticket and ticket is None:
        ticket = _marked(host.issues(posts.repository, posts.since), posts.mark)
    return comment, ticket


def post(host: GitHub, posts: Posts, known: Mapping[str, str], keep: Callable[[str, str], None]) -> Iterator[str]:
    """Post what is not there yet, and have each address kept as soon as it is known; a line for each."""
    comment, ticket = published(host, posts, known)
    if posts.comment:
        at = comment or host.comment(posts.place, posts.comment)
        keep(posts.comment_name, at)
        yield f"{_NAMES[posts.kind]}: {at}{' (was there)' * bool(comment)}"
    if posts.ticket:
        at = ticket or host.open_issue(posts.repository, posts.ticket.fields())
        keep(posts.ticket_name, at)
        yield f"ticket: {at}{' (was there)' * bool(ticket)}"


def with_known_labels(posts: Posts, known: Iterable[str]) -> tuple[Posts, list[str]]:
    """The same with the repository's own labels only, as it spells them; and those left out. GitHub would make a new
    label of each that is unknown."""
    if posts.ticket is None:
        return posts, []
    names = {name.lower(): name for name in known}
    kept = tuple(dict.fromkeys(names[label.lower()] for label in posts.ticket.labels if label.lower() in names))
    left_out = [label for label in posts.ticket.labels if label.lower() not in names]
    return posts.model_copy(update={"ticket": posts.ticket.model_copy(update={"labels": kept})}), left_out


def active_texts(posts: Posts) -> list[str]:
    """What the texts would do to others, in words: whom they mention, which images they load, what they hide."""
    ticket = f"{posts.ticket.title}\n\n{posts.ticket.body}" if posts.ticket else ""
    texts = {"comment": posts.comment or "", "ticket": ticket}
    return [f"the {name} {effect}" for name, text in texts.items() for effect in effects_of(text, posts.mark).active]


def shown(posts: Posts, comment: str | None, ticket: str | None, how: str = "--yes") -> str:
    """What publishing would do: each text behind a margin, so that none of its lines passes for one of ours, and below
    it whom it notifies and what it loads. `how` are the options that do it."""
    parts = []
    if posts.comment:
        heading = f"{_NAMES[posts.kind]} on {posts.repository}#{posts.number}:"
        parts.append(_there(heading, comment) or _with_effects(heading, posts.comment, posts.mark))
    if posts.ticket:
        labels, assigned = ", ".join(posts.ticket.labels) or "no labels", ", ".join(posts.ticket.assignees)
        about = f"{labels}, assigned to {assigned}" if assigned else labels
        heading = one_line(f"ticket in {posts.repository}: {posts.ticket.title} ({about})")
        parts.append(
            _there(f"ticket in {posts.repository}:", ticket)
            or _with_effects(heading, posts.ticket.body, posts.mark, posts.ticket.title)
        )
    return "\n".join([*parts, f"nothing was posted: {how} does it"])


def _there(heading: str, address: str | None) -> str | None:
    return f"{heading} is there already ({address})" if address else None


def _with_effects(heading: str, text: str, mark: str, title: str = "") -> str:
    effects = effects_of(f"{title}\n\n{text}" if title else text, mark).lines()
    return "\n".join(
        [heading, *(f"  | {line}" for line in visible(text).split("\n")), *(f"  {line}" for line in effects)]
    )


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


def refuse_secrets_of(posts: Posts) -> None:
    """Raises InputError where a text holds what looks like a secret."""
    ticket = posts.ticket.model_dump_json() if posts.ticket else ""
    _refuse_secrets({"the comment": posts.comment or "", "the ticket": ticket})


def _refuse_secrets(texts: dict[str, str]) -> None:
    hold_own_keys()
    for name, text in texts.items():
        if rule := secret_in(text):
            raise InputError(f"{name}: holds what looks like a secret ({rule}); take it out. Nothing was posted")

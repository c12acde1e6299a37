"""Posting of a job's texts on GitHub: the checked payload, its preview, and the posts."""

import asyncio
import hashlib
import json
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from evals.shared.display_text import one_line, visible
from evals.shared.secrets.rule import hold_environment
from triage.checkpoints import keep_post, kept_posts
from triage.errors import InputError
from triage.github_client import GitHub, IssueAddress, Text, User, api_url, github
from triage.issue import shortened
from triage.job_report import with_caveats
from triage.outgoing_text import effects_of, secret_in
from triage.private_files import write_private
from triage.settings import DEFAULT_JOBS
from triage.state import HumanExchange, TicketDraft
from triage.stored_jobs import begun, held, one_job

FILE_LIMIT: Final = 1_000_000
"""Bytes of such a file; the longest texts that GitHub takes have a fifth of it."""
Sentence = Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
"""One caveat."""
PayloadText = Annotated[str, StringConstraints(min_length=1, max_length=65_536)]
"""A comment or a body, as long as GitHub takes them."""
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9-]{0,38}$")]
Label = Annotated[str, StringConstraints(min_length=1, max_length=50)]


class Ticket(BaseModel):
    """The fields of a new issue."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=256)]
    body: PayloadText
    labels: Annotated[tuple[Label, ...], Field(max_length=20)] = ()
    assignees: Annotated[tuple[Name, ...], Field(max_length=1)] = ()

    def fields(self) -> dict[str, object]:
        """As GitHub takes them; what is empty is left out."""
        return {name: value for name, value in self.model_dump(mode="json").items() if value}


class Posts(BaseModel):
    """What is to be posted: a comment on an issue, and perhaps a new issue in the same repository; both end in `mark`.

    `since` is the start of the day on which the job was begun (ISO, UTC): nothing of it can be older, however clocks
    differ. `kind` says whether the comment is the result of the job or a question to the reporter. `grave` are
    the grave caveats of the report; None: a file of an older version, which does not tell.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    kind: Literal["result", "question"] = "result"
    job: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$")]
    repository: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$", max_length=200)]
    number: Annotated[int, Field(ge=1)]
    mark: Annotated[str, StringConstraints(pattern=r"^<!-- triage [a-z]+ [A-Za-z0-9_. -]+ -->$", max_length=300)]
    since: Annotated[str, StringConstraints(pattern=r"^\d{4}-\d\d-\d\dT00:00:00Z$")]
    comment: PayloadText | None
    ticket: Ticket | None = None
    grave: Annotated[tuple[Sentence, ...], Field(max_length=100)] | None = None

    @property
    def place(self) -> IssueAddress:
        """The issue the comment goes to."""
        return IssueAddress(self.repository, self.number)

    @property
    def comment_name(self) -> str:
        """What the job remembers the comment by."""
        return f"{self.mark} on {self.repository}#{self.number}"

    @property
    def ticket_name(self) -> str:
        """What the job remembers the ticket by."""
        return f"{self.mark} in {self.repository}"

    def only(self, *, comment: bool, ticket: bool) -> Self:
        """The same without what is not wanted."""
        left: dict[str, object] = {"comment": self.comment if comment else None}
        left["ticket"] = self.ticket if ticket else None
        return self.model_copy(update=left)


def checked_posts(**fields: object) -> Posts:
    """The texts, checked. Raises InputError where GitHub would not take them."""
    try:
        return Posts.model_validate(fields)
    except ValidationError as error:
        assignee = "; --no-assignee leaves it out" if "assignees" in error.errors()[0]["loc"] else ""
        raise InputError(f"what would be posted cannot be: {_first(error)}; edit ticket.json{assignee}") from error


def write_posts(path: Path, posts: Posts) -> None:
    """Write the file."""
    write_private(path, posts.model_dump_json(indent=2) + "\n")


def read_posts(path: Path) -> Posts:
    """The texts in the file. Raises InputError where it holds anything else."""
    try:
        if path.stat().st_size > FILE_LIMIT:
            raise InputError(f"{path}: has more than {FILE_LIMIT:,} bytes, which `triage publish --to` never writes")
        return Posts.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); `triage publish JOB --to FILE` writes it"
        ) from error
    except ValidationError as error:
        raise InputError(f"{path}: is no file of `triage publish --to` ({_first(error)})") from error


def _first(error: ValidationError) -> str:
    first = error.errors(include_input=False)[0]
    return f"{'.'.join(map(str, first['loc'])) or 'the whole'}: {first['msg']}"


ASKED: Final = "_The answer is taken from the next comment of the person who opened this issue._"
ANSWER_LIMIT: Final = 4_000
"""Characters of an answer that are taken from the issue."""
_CAVEAT_LIMIT: Final = 2_000
"""Characters of a caveat that the payload file keeps."""
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
        grave=[caveat[:_CAVEAT_LIMIT] for caveat in grave],
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
        grave=[],
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
    hold_environment()
    for name, text in texts.items():
        if rule := secret_in(text):
            raise InputError(f"{name}: holds what looks like a secret ({rule}); take it out. Nothing was posted")


def ask_reporter(jobs: Path, name: str, issue_url: str | None, say: Callable[[str], None]) -> None:
    """Post the question the job waits at, unless it is there already; nothing where it waits for none.

    Raises:
        InputError: the job knows no issue, or the host refuses. HostError.
    """
    posts = asyncio.run(waiting_question(jobs, name, issue_url))
    if posts is None:
        return
    with held(jobs, name), github(say) as host:
        for line in post(host, posts, kept_posts(jobs, name), partial(keep_post, jobs, name)):
            say(line)
    words = ["triage", "resume", name, "--from-issue", *(["--jobs", str(jobs)] if jobs != DEFAULT_JOBS else [])]
    say(f"when the reporter has answered: {shlex.join([*words, *(['--issue-url', issue_url] if issue_url else [])])}")


def answer_on_issue(jobs: Path, name: str, issue_url: str | None, say: Callable[[str], None]) -> str | None:
    """The reporter's answer to the question the job waits at; None while there is none.

    Raises:
        InputError: the job waits for no answer, the question was not posted, or nobody can answer it. HostError.
    """
    posts = asyncio.run(waiting_question(jobs, name, issue_url))
    if posts is None:
        raise InputError(f"job {name!r} waits for no answer: leave --from-issue out to go on with it")
    with github(say) as host:
        return _answer(host, posts)


async def waiting_question(jobs: Path, name: str, issue_url: str | None) -> Posts | None:
    """The question the job waits at, as a comment; None where it waits for none."""
    job = await one_job(jobs, name)
    if job.waiting is None:
        return None
    url = issue_url or job.state.issue_url
    if not url:
        raise InputError(f"job {name!r} knows no address of its issue: give --issue-url")
    return question_of(IssueAddress.of(url, api_url()), name, await begun(jobs, name), job.waiting)


def _answer(host: GitHub, posts: Posts) -> str | None:
    reporter = host.reporter(posts.place)
    if reporter is None or reporter.is_bot:
        who = "a program" if reporter else "an account that is gone"
        raise InputError(f"the issue was opened by {who}, which answers nothing: give --answer TEXT to `triage run`")
    return answer_to(posts.mark, host.comments(posts.place), reporter)

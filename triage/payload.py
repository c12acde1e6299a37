"""The texts of a job that may be posted, as data that is checked: what `triage publish` posts, or writes to a file.

A workflow that reads strangers' text and one that may write to the repository need not be the same: the first writes
this file, the second posts it and reads nothing else.
"""

from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from triage.errors import InputError
from triage.github import IssueAddress
from triage.private_files import write_private

FILE_LIMIT: Final = 1_000_000
"""Bytes of such a file; the longest texts that GitHub takes have a fifth of it."""
Text = Annotated[str, StringConstraints(min_length=1, max_length=65_536)]
"""A comment or a body, as long as GitHub takes them."""
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9-]{0,38}$")]
Label = Annotated[str, StringConstraints(min_length=1, max_length=50)]


class Ticket(BaseModel):
    """The fields of a new issue."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=256)]
    body: Text
    labels: Annotated[tuple[Label, ...], Field(max_length=20)] = ()
    assignees: Annotated[tuple[Name, ...], Field(max_length=1)] = ()

    def fields(self) -> dict[str, object]:
        """As GitHub takes them; what is empty is left out."""
        return {name: value for name, value in self.model_dump(mode="json").items() if value}


class Posts(BaseModel):
    """What is to be posted: a comment on an issue, and perhaps a new issue in the same repository; both end in `mark`.

    `since` is the start of the day on which the job was begun (ISO, UTC): nothing of it can be older, however clocks
    differ. `kind` says whether the comment is the result of the job or a question to the reporter.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    kind: Literal["result", "question"] = "result"
    job: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$")]
    repository: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$", max_length=200)]
    number: Annotated[int, Field(ge=1)]
    mark: Annotated[str, StringConstraints(pattern=r"^<!-- triage [a-z]+ [A-Za-z0-9_. -]+ -->$", max_length=300)]
    since: Annotated[str, StringConstraints(pattern=r"^\d{4}-\d\d-\d\dT00:00:00Z$")]
    comment: Text | None
    ticket: Ticket | None = None

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

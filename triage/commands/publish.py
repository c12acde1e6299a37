"""`triage publish`: a job's comment and ticket, or its question, on its issue."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from triage.errors import EXIT_OK, EXIT_UNFOUNDED, InputError
from triage.places import DEFAULT_JOBS
from triage.terminal import complain, put, say

if TYPE_CHECKING:
    from triage.payload import Posts


def publish_command(
    job: Annotated[str | None, typer.Argument(help="Name of the job.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Post it; without this it is only shown.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Post a report that rests on too little, too.")] = False,
    issue_url: Annotated[
        str | None, typer.Option(help="The issue, where the job was begun from a file; with --from always.")
    ] = None,
    comment_only: Annotated[bool, typer.Option("--comment-only", help="Leave the ticket out.")] = False,
    ticket_only: Annotated[bool, typer.Option("--ticket-only", help="Leave the comment out.")] = False,
    no_assignee: Annotated[bool, typer.Option("--no-assignee", help="Assign the ticket to nobody.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse texts with mentions, images or hidden characters.")
    ] = False,
    to: Annotated[Path | None, typer.Option(help="Write what would be posted to this file, and post nothing.")] = None,
    from_: Annotated[
        Path | None, typer.Option("--from", help="Post what is in this file of --to, in place of a job.")
    ] = None,
    jobs: Annotated[Path, typer.Option(help="SQLite file that keeps the jobs.")] = DEFAULT_JOBS,
) -> int:
    """Post comment.md to the job's issue, and open ticket.json with report.md as an issue of the same repository.

    They are read as they are now, edited or not. A job that waits for an answer has its question posted instead. What
    is there already is not posted again. GITHUB_TOKEN has to allow it; GITHUB_API_URL names an enterprise server. A
    report that rests on too little (exit code 5 of `triage run`) is posted with --yes --force only, and says so at its
    top.
    """
    from triage.closing import too_little
    from triage.publish import active_texts

    _check(job, from_, issue_url, comment_only=comment_only, ticket_only=ticket_only)
    grave: list[str] = []
    if from_:
        posts = _from_file(from_, str(issue_url))
    else:
        posts, grave = asyncio.run(_of_job(jobs, str(job), issue_url, no_assignee))
    if grave and yes and not force:
        return complain(f"{too_little(grave)}. Nothing was posted: --yes --force posts it", EXIT_UNFOUNDED)
    posts = posts.only(comment=not ticket_only, ticket=not comment_only)
    if posts.comment is None and posts.ticket is None:
        raise InputError("there is nothing of that to post: a question has no ticket")
    if strict and (active := active_texts(posts)):
        raise InputError(f"{'; '.join(active)}. Nothing was posted: edit the files, or leave --strict out")
    if to is not None:
        from triage.payload import write_posts

        write_posts(to, posts)
        put(f"wrote {to}: `triage publish --from FILE --issue-url URL --yes` posts it")
        return EXIT_OK
    for line in _posted(posts, None if from_ else jobs, yes=yes, how="--yes --force" if grave else "--yes"):
        put(line)
    return EXIT_OK


def _check(
    job: str | None, from_: Path | None, issue_url: str | None, *, comment_only: bool, ticket_only: bool
) -> None:
    if (job is None) == (from_ is None):
        raise InputError("name one job, or a file with --from")
    if from_ is not None and issue_url is None:
        raise InputError("--from: give --issue-url as well, the issue that the file has to be about")
    if comment_only and ticket_only:
        raise InputError("--comment-only and --ticket-only leave nothing: give one of them")


def _posted(posts: "Posts", jobs: Path | None, *, yes: bool, how: str) -> Iterator[str]:
    """Post the texts, or show them; a line or a page for each. `jobs` remembers what is posted; `how` are the options
    that post them."""
    from triage.github import github
    from triage.kept_posts import keep_post, kept_posts
    from triage.locks import held
    from triage.publish import post, published, shown, with_known_labels

    with ExitStack() as opened:
        if jobs is not None:
            opened.enter_context(held(jobs, posts.job))
        host = opened.enter_context(github(say))
        known = kept_posts(jobs, posts.job) if jobs else {}
        if posts.ticket and posts.ticket.labels and posts.ticket_name not in known:
            posts, unknown = with_known_labels(posts, host.labels(posts.repository))
            for label in unknown:
                say(f"label {label!r} is left out: the repository has no such label")
        if yes:
            yield from post(
                host, posts, known, partial(keep_post, jobs, posts.job) if jobs else lambda _what, _url: None
            )
        else:
            yield shown(posts, *published(host, posts, known), how)


def _from_file(path: Path, issue_url: str) -> "Posts":
    from triage.github import IssueAddress, api_url
    from triage.payload import read_posts
    from triage.publish import refuse_secrets_of

    posts, wanted = read_posts(path), IssueAddress.of(issue_url, api_url())
    if posts.place != wanted:
        about = f"{posts.repository}#{posts.number}"
        raise InputError(f"{path}: is about {about}, not about {wanted.repository}#{wanted.number}")
    refuse_secrets_of(posts)
    return posts


async def _of_job(jobs: Path, name: str, issue_url: str | None, no_assignee: bool) -> "tuple[Posts, list[str]]":
    """What would be posted, and the grave caveats of the report."""
    from triage.caveats import grave_caveats
    from triage.github import IssueAddress, api_url
    from triage.publish import posts_of, question_of
    from triage.shelf import begun, one_job

    job = await one_job(jobs, name)
    url = issue_url or job.state.issue_url
    if not url:
        raise InputError(f"job {name!r} knows no address of its issue: give --issue-url")
    place, first = IssueAddress.of(url, api_url()), await begun(jobs, name)
    if job.waiting is not None:
        return question_of(place, name, first, job.waiting), []
    grave = grave_caveats(job.state, job.floor)
    return posts_of(Path(str(job.options.out)), place, name, first, grave, assigned=not no_assignee), grave

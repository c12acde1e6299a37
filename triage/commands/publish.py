"""`triage publish`: a job's comment and ticket, on its issue."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from triage.errors import EXIT_OK, InputError
from triage.places import DEFAULT_JOBS
from triage.terminal import put

if TYPE_CHECKING:
    from triage.publish import Posts


def publish_command(
    job: Annotated[str, typer.Argument(help="Name of the job.")],
    yes: Annotated[bool, typer.Option("--yes", help="Post it; without this it is only shown.")] = False,
    issue_url: Annotated[str | None, typer.Option(help="The issue, where the job was begun from a file.")] = None,
    jobs: Annotated[Path, typer.Option(help="SQLite file that keeps the jobs.")] = DEFAULT_JOBS,
) -> int:
    """Post comment.md to the job's issue, and open ticket.json with report.md as an issue of the same repository.

    They are read as they are now, edited or not. What is there already is not posted again. GITHUB_TOKEN has to allow
    it; GITHUB_API_URL names an enterprise server.
    """
    from triage.github import github
    from triage.locks import held
    from triage.publish import published, shown

    posts = asyncio.run(_posts(jobs, job, issue_url))
    with held(jobs, job), github() as host:
        comment, ticket = published(host, posts)
        if yes:
            at = comment or host.comment(posts.place, posts.comment)
            put(f"comment: {at}{' (was there)' * bool(comment)}")
            at = ticket or host.open_issue(posts.place.repository, posts.ticket)
            put(f"ticket: {at}{' (was there)' * bool(ticket)}")
        else:
            put(shown(posts, comment, ticket))
    return EXIT_OK


async def _posts(jobs: Path, name: str, issue_url: str | None) -> "Posts":
    from triage.github import IssueAddress, api_url
    from triage.publish import posts_of
    from triage.shelf import begun, one_job

    job = await one_job(jobs, name)
    url = issue_url or job.state.issue_url
    if not url:
        raise InputError(f"job {name!r} knows no address of its issue: give --issue-url")
    place = IssueAddress.of(url, api_url())
    return posts_of(Path(str(job.options.out)), place, name, await begun(jobs, name))

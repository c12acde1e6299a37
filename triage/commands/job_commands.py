"""`triage check`, `jobs`, `publish` and `serve`."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from triage.errors import EXIT_OK, EXIT_OUTAGE, EXIT_UNFOUNDED, InputError
from triage.settings import DEFAULT_JOBS
from triage.terminal_screen import Terminal, complain, put, say

if TYPE_CHECKING:
    from triage.publish_report import Posts


def check_command(
    model: Annotated[str | None, typer.Option(help="One model for all agents (default: TRIAGE_MODELS).")] = None,
) -> int:
    """Ask every model for one structured answer, the search for one page, and every service for its health.

    Prints a line for each; the exit code is 3 if one fails. It costs a few dozen tokens per model.
    """
    from triage.live_graph import probed, settings_from_environment
    from triage.settings import unknown_variables

    for line in unknown_variables(os.environ):
        say(f"triage: {line}", "yellow")
    results = asyncio.run(probed(settings_from_environment(model)))
    for result in results:
        put(f"{'ok' if result.good else 'FAILED':<7}{result.text}")
    return EXIT_OK if all(result.good for result in results) else EXIT_OUTAGE


jobs_app = typer.Typer(help="List, show and delete stored jobs.", add_completion=False)
Jobs = Annotated[Path, typer.Option(help="SQLite file that keeps the jobs.")]
Name = Annotated[str, typer.Argument(help="Name of the job.")]


@jobs_app.callback(invoke_without_command=True)
def jobs_command(
    context: typer.Context,
    jobs: Jobs = DEFAULT_JOBS,
    retried_for: Annotated[
        str | None,
        typer.Option(help="Only jobs in which supervisor `rules` repeated a search for this reason."),
    ] = None,
) -> int:
    """List the stored jobs, the newest first; with show or delete, look at one or be rid of it."""
    if context.invoked_subcommand is not None:
        return EXIT_OK
    from triage.stored_jobs import every_job, line

    if retried_for is not None:
        return _retried(jobs, retried_for)
    found = asyncio.run(every_job(jobs))
    for job in found:
        put(line(job))
    if not found:
        put(f"no job is stored in {jobs}")
    return EXIT_OK


def _retried(jobs: Path, reason: str) -> int:
    """Print each retry for `reason` in the stored jobs, the newest job first."""
    from evals.shared.display_text import one_line
    from triage.stored_jobs import StoredJob, every_job
    from triage.supervisors.rules.rules_signals import RETRY_REASONS, holds

    if reason not in RETRY_REASONS:
        raise InputError(f"--retried-for {reason}: choose one of {', '.join(RETRY_REASONS)}")
    found = [job for job in asyncio.run(every_job(jobs)) if isinstance(job, StoredJob)]
    retries = [(job, retry) for job in found for retry in job.state.retry_reasons if holds(reason, retry)]
    for job, retry in retries:
        told = f"retry {retry.iteration}: {retry.reason}, confidence {retry.confidence:.0%}"
        put(one_line(f"{job.name}  {job.when}  {told}  ({job.state.issue_title})"))
    if not retries:
        put(f"no job in {jobs} repeated a search for {reason}")
    return EXIT_OK


@jobs_app.command("show")
def show_command(name: Name, jobs: Jobs = DEFAULT_JOBS) -> int:
    """Show one job: its settings, what has happened, and what it waits for."""
    from triage.checkpoints import kept_posts
    from triage.stored_jobs import one_job, page

    put(page(asyncio.run(one_job(jobs, name))))
    for url in kept_posts(jobs, name).values():
        put(f"  posted: {url}")
    return EXIT_OK


@jobs_app.command("delete")
def delete_command(name: Name, jobs: Jobs = DEFAULT_JOBS) -> int:
    """Delete a stored job, and the files it has written."""
    from triage.stored_jobs import delete_job

    for path in asyncio.run(delete_job(jobs, name)):
        put(f"{path} stays: another job wrote it last")
    put(f"deleted {name}")
    return EXIT_OK


def publish_command(
    job: Annotated[str | None, typer.Argument(help="Name of the job.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Post the texts; without --yes they are only shown.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Also post a report that is not well founded.")] = False,
    issue_url: Annotated[
        str | None, typer.Option(help="Address of the issue, if the job read a file; with --from always.")
    ] = None,
    comment_only: Annotated[bool, typer.Option("--comment-only", help="Leave the ticket out.")] = False,
    ticket_only: Annotated[bool, typer.Option("--ticket-only", help="Leave the comment out.")] = False,
    no_assignee: Annotated[bool, typer.Option("--no-assignee", help="Assign the ticket to nobody.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Refuse mentions, images, hidden characters.")] = False,
    to: Annotated[Path | None, typer.Option(help="Write what would be posted to this file, and post nothing.")] = None,
    from_: Annotated[Path | None, typer.Option("--from", help="Post a file that --to wrote, instead of a job.")] = None,
    jobs: Annotated[Path, typer.Option(help="SQLite file that keeps the jobs.")] = DEFAULT_JOBS,
) -> int:
    """Post comment.md to the job's issue, and open ticket.json with report.md as an issue of the same repository.

    The files are posted as they are now, so you may edit them. If the job waits for an answer, its question is posted
    instead. Nothing is posted twice. GITHUB_TOKEN must allow it; GITHUB_API_URL names an enterprise server. A report
    that is not well founded (exit code 5 of `triage run`) needs --yes --force, and says so at its top.
    """
    from triage.job_session import too_little
    from triage.publish_report import active_texts

    _check(job, from_, issue_url, comment_only=comment_only, ticket_only=ticket_only)
    posts = _from_file(from_, str(issue_url)) if from_ else asyncio.run(_of_job(jobs, str(job), issue_url, no_assignee))
    grave = _grave_caveats(posts)
    how = "--yes --force" if grave else "--yes"
    if grave and yes and not force:
        return complain(f"{too_little(grave)}. Nothing was posted: --yes --force posts it", EXIT_UNFOUNDED)
    posts = posts.only(comment=not ticket_only, ticket=not comment_only)
    if posts.comment is None and posts.ticket is None:
        raise InputError("there is nothing of that to post: a question has no ticket")
    if strict and (active := active_texts(posts)):
        raise InputError(f"{'; '.join(active)}. Nothing was posted: edit the files, or leave --strict out")
    if to is not None:
        from triage.publish_report import write_posts

        write_posts(to, posts)
        put(f"wrote {to}: `triage publish --from FILE --issue-url URL {how}` posts it")
        return EXIT_OK
    for line in _posted(posts, None if from_ else jobs, yes=yes, how=how):
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
    from triage.checkpoints import keep_post, kept_posts
    from triage.github_client import github
    from triage.publish_report import post, published, shown, with_known_labels
    from triage.stored_jobs import held

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
    from triage.github_client import IssueAddress, api_url
    from triage.publish_report import read_posts, refuse_secrets_of

    posts, wanted = read_posts(path), IssueAddress.of(issue_url, api_url())
    if posts.place != wanted:
        about = f"{posts.repository}#{posts.number}"
        raise InputError(f"{path}: is about {about}, not about {wanted.repository}#{wanted.number}")
    refuse_secrets_of(posts)
    return posts


def _grave_caveats(posts: "Posts") -> list[str]:
    """The grave caveats of what is to be posted. A file that does not tell them counts as one that has some."""
    if posts.grave is None and posts.kind == "result":
        return ["the file is of an older version and does not tell its caveats"]
    return list(posts.grave or ())


async def _of_job(jobs: Path, name: str, issue_url: str | None, no_assignee: bool) -> "Posts":
    """What would be posted."""
    from triage.github_client import IssueAddress, api_url
    from triage.job_report import grave_caveats
    from triage.publish_report import posts_of, question_of
    from triage.stored_jobs import begun, one_job

    job = await one_job(jobs, name)
    url = issue_url or job.state.issue_url
    if not url:
        raise InputError(f"job {name!r} knows no address of its issue: give --issue-url")
    place, first = IssueAddress.of(url, api_url()), await begun(jobs, name)
    if job.waiting is not None:
        return question_of(place, name, first, job.waiting)
    grave = grave_caveats(job.state, job.floor)
    return posts_of(Path(str(job.options.out)), place, name, first, grave, assigned=not no_assignee)


def serve_command(
    repo: Annotated[
        list[Path], typer.Option(help="A checkout of the repository the issues are about; may be repeated.")
    ],
    path: Annotated[
        list[str] | None,
        typer.Option(help="Search this folder of the checkout only; NAME:FOLDER with several. May be repeated."),
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 8100,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="Another host name that requests may use (repeatable)."),
    ] = None,
    model: Annotated[str | None, typer.Option(help="One model for all agents (default: TRIAGE_MODELS).")] = None,
) -> int:
    """Run the agents as a service: POST /agents/NAME/invoke, GET /health.

    With a --host other than loopback, TRIAGE_SERVICE_TOKEN must be set: requests need it as bearer token.
    """
    from triage.job_session import serve
    from triage.settings import unknown_variables

    for line in unknown_variables(os.environ):
        say(f"triage: {line}", "yellow")
    asyncio.run(serve([one.resolve() for one in repo], path or (), host, port, allow_host or (), model, Terminal()))
    return EXIT_OK

"""`triage jobs`: what is stored, what waits for which question, and how to be rid of it."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from triage.errors import EXIT_OK, InputError
from triage.places import DEFAULT_JOBS
from triage.terminal import put

jobs_app = typer.Typer(help="List, show and delete stored jobs.", add_completion=False)
Jobs = Annotated[Path, typer.Option(help="SQLite file that keeps the jobs.")]
Name = Annotated[str, typer.Argument(help="Name of the job.")]


@jobs_app.callback(invoke_without_command=True)
def jobs_command(
    context: typer.Context,
    jobs: Jobs = DEFAULT_JOBS,
    retried_for: Annotated[
        str | None,
        typer.Option(help="Only jobs of supervisor rules that repeated a search for this, e.g. citation_issue."),
    ] = None,
) -> int:
    """List the stored jobs, the newest first; with show or delete, look at one or be rid of it."""
    if context.invoked_subcommand is not None:
        return EXIT_OK
    from triage.shelf import every_job, line

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
    from triage.shelf import StoredJob, every_job
    from triage.supervisors.rules.signals import RETRY_REASONS, holds
    from triage.visible_text import one_line

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
    """Show one job: what it was begun with, what has happened, and what it waits for."""
    from triage.kept_posts import kept_posts
    from triage.shelf import one_job, page

    put(page(asyncio.run(one_job(jobs, name))))
    for url in kept_posts(jobs, name).values():
        put(f"  posted: {url}")
    return EXIT_OK


@jobs_app.command("delete")
def delete_command(name: Name, jobs: Jobs = DEFAULT_JOBS) -> int:
    """Delete a stored job, and the files it has written."""
    from triage.shelf import delete_job

    for path in asyncio.run(delete_job(jobs, name)):
        put(f"{path} stays: another job wrote it last")
    put(f"deleted {name}")
    return EXIT_OK

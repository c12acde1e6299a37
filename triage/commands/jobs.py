"""`triage jobs`: what is stored, what waits for which question, and how to be rid of it."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from triage.errors import EXIT_OK
from triage.places import DEFAULT_JOBS
from triage.terminal import put

jobs_app = typer.Typer(help="List, show and delete stored jobs.", add_completion=False)
Jobs = Annotated[Path, typer.Option(help="SQLite file that keeps the jobs.")]
Name = Annotated[str, typer.Argument(help="Name of the job.")]


@jobs_app.callback(invoke_without_command=True)
def jobs_command(context: typer.Context, jobs: Jobs = DEFAULT_JOBS) -> int:
    """List the stored jobs, the newest first; with show or delete, look at one or be rid of it."""
    if context.invoked_subcommand is not None:
        return EXIT_OK
    from triage.shelf import every_job, line

    found = asyncio.run(every_job(jobs))
    for job in found:
        put(line(job))
    if not found:
        put(f"no job is stored in {jobs}")
    return EXIT_OK


@jobs_app.command("show")
def show_command(name: Name, jobs: Jobs = DEFAULT_JOBS) -> int:
    """Show one job: what it was begun with, what has happened, and what it waits for."""
    from triage.shelf import one_job, page

    put(page(asyncio.run(one_job(jobs, name))))
    return EXIT_OK


@jobs_app.command("delete")
def delete_command(name: Name, jobs: Jobs = DEFAULT_JOBS) -> int:
    """Delete a stored job; files it has written stay."""
    from triage.shelf import delete_job

    asyncio.run(delete_job(jobs, name))
    put(f"deleted {name}")
    return EXIT_OK

"""`triage resume`: a stored job goes on, also with the answer its reporter gave on the issue."""

import asyncio
import os
from pathlib import Path
from typing import Annotated

import typer

from triage.errors import EXIT_UNFINISHED, StoppedError
from triage.places import DEFAULT_JOBS
from triage.terminal import Terminal, say


def resume_command(
    job: Annotated[str, typer.Argument(help="Name of the job.")],
    from_issue: Annotated[
        bool, typer.Option("--from-issue", help="Take the answer from the issue: the reporter's next comment.")
    ] = False,
    ask_on_issue: Annotated[
        bool, typer.Option("--ask-on-issue", help="Post a further question as a comment on the issue.")
    ] = False,
    issue_url: Annotated[str | None, typer.Option(help="The issue, where the job was begun from a file.")] = None,
    repo: Annotated[Path | None, typer.Option(help="The checkout, where it was moved.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the results, where it is to be another.")] = None,
    jobs: Annotated[Path, typer.Option(help="SQLite file that keeps the jobs.")] = DEFAULT_JOBS,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say how it ended, and nothing on the way.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show every finding, call and request.")] = False,
) -> int:
    """Go on with a stored job, as `triage run --resume` does; with --from-issue, with the reporter's answer.

    Only the account that opened the issue is listened to, and only what it writes after the question. It ends with 4
    while there is no answer.
    """
    from triage.account import Account
    from triage.log import show
    from triage.options import Options
    from triage.reporter import answer_on_issue, ask_reporter
    from triage.session import Session, run_session
    from triage.settings import unknown_variables

    for line in unknown_variables(os.environ):
        say(f"triage: {line}", "yellow")
    answers = []
    if from_issue:
        answer = answer_on_issue(jobs, job, issue_url, say)
        if answer is None:
            say("the reporter has not answered yet; the job is kept")
            return EXIT_UNFINISHED
        answers.append(answer)
    if verbose:
        show()
    terminal = Terminal(quiet, verbose, answers, asks=not (from_issue or ask_on_issue))
    account = Account(heard=terminal.called, searched=terminal.searched)
    options = Options(repo=str(repo) if repo else None, out=str(out) if out else None)
    session = Session(job, None, options, jobs, repo_as_typed=str(repo or ""), account=account)
    try:
        code = asyncio.run(run_session(session, terminal))
    except KeyboardInterrupt:
        raise StoppedError(f"interrupted; {session.how_to_resume}") from None
    if ask_on_issue and code == EXIT_UNFINISHED:
        ask_reporter(jobs, job, issue_url, say)
    return code

"""`triage run` and `triage resume`."""

import asyncio
import os
import re
import sys
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from triage.errors import EXIT_UNFINISHED, InputError, StoppedError
from triage.settings import DEFAULT_JOBS
from triage.state import DEFAULT_MAX_ITERATIONS
from triage.terminal_screen import Terminal, say

if TYPE_CHECKING:
    from triage.job_session import JobRequest

NAME: Final = re.compile(r"[\w][\w.-]*", re.ASCII)
"""A job's name is that of a folder as well."""


def run_command(
    repo: Annotated[
        list[Path] | None,
        typer.Option(
            help="A checkout of the repository the issue is about; may be repeated. A stored job knows its own."
        ),
    ] = None,
    path: Annotated[
        list[str] | None,
        typer.Option(help="Search this folder of the checkout only; NAME:FOLDER with several. May be repeated."),
    ] = None,
    issue: Annotated[
        str | None,
        typer.Option(
            help="Markdown (first line: title) or `gh issue view N --json title,body,url,comments`; - is stdin."
        ),
    ] = None,
    issue_url: Annotated[
        str | None,
        typer.Option(help="A GitHub issue by its address (GITHUB_TOKEN, GITHUB_API_URL) in place of --issue."),
    ] = None,
    supervisor: Annotated[
        str | None,
        typer.Option(
            help="llm, rules, registry, plan-fixed, plan-hybrid or plan-llm (docs/supervisors.md).", show_default="llm"
        ),
    ] = None,
    prompt: Annotated[
        str | None,
        typer.Option(
            help="The supervisor's prompt: v1, v2, v3, v5, v6 for llm; v4 for registry; plan-v1 for plans; or a file.",
            show_default="v3 for llm; the others have one",
        ),
    ] = None,
    plan: Annotated[
        str | None,
        typer.Option(
            help="For plan-fixed and plan-hybrid: linear, fan-out, optional-branch or a .yaml file.",
            show_default="linear",
        ),
    ] = None,
    guards: Annotated[
        str | None, typer.Option(help="none, prd, hardened or hardened-without-X.", show_default="hardened")
    ] = None,
    max_iterations: Annotated[
        int | None, typer.Option(min=1, help="Most steps before the report.", show_default=str(DEFAULT_MAX_ITERATIONS))
    ] = None,
    redirect: Annotated[list[str] | None, typer.Option(help="Instruction for all agents (repeatable).")] = None,
    answer: Annotated[
        list[str] | None, typer.Option(help="The answer to the next question; may be repeated, for the ones after it.")
    ] = None,
    ask_on_issue: Annotated[
        bool,
        typer.Option("--ask-on-issue", help="Post a question as a comment on the issue, and leave the job waiting."),
    ] = False,
    job_id: Annotated[str | None, typer.Option(help="Name of the job; made up if not given.")] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on with --job-id as it was begun. --prompt, --guards, --model, --thresholds, --out, "
            "--max-iterations, --redirect, --max-cost and --max-tokens may be changed.",
        ),
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Folder for the results; .triage/JOB-ID if not given.")] = None,
    jobs: Annotated[Path, typer.Option(help="SQLite file that keeps the jobs.")] = DEFAULT_JOBS,
    model: Annotated[str | None, typer.Option(help="One model for all agents (default: TRIAGE_MODELS).")] = None,
    thresholds: Annotated[Path | None, typer.Option(help="YAML file with thresholds (docs/live.md).")] = None,
    max_cost: Annotated[
        float | None,
        typer.Option(min=0, help="USD the whole job may cost: it stops before a request that could pass it (exit 4)."),
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(min=1, help="Tokens the whole job may take, prompts and answers; like --max-cost.")
    ] = None,
    record: Annotated[bool, typer.Option("--record", help="Save requests and answers, to make a case.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the end of the job.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show whole findings, all calls and all requests.")
    ] = False,
) -> int:
    """Run one job, or resume it, and write report.md, report.json, comment.md, ticket.json and trace.json.

    TRIAGE_BASE_URL and TRIAGE_API_KEY (or OPENAI_BASE_URL and OPENAI_API_KEY) name the endpoint and its key.
    TRIAGE_TAVILY_API_KEY allows web searches. All variables: docs/live.md.
    """
    _check(resume, job_id, issue or issue_url, repo)
    if issue is not None and issue_url is not None:
        raise InputError("--issue and --issue-url are two issues: give one of them")
    from triage.issue import read_issue

    given = None if issue is None else read_issue(issue, sys.stdin)
    if issue_url is not None:
        from triage.github_client import IssueAddress, api_url, github

        with github(say) as host:
            given = host.issue(IssueAddress.of(issue_url, api_url()))
    if ask_on_issue and given is not None and not given.url:
        raise InputError("--ask-on-issue: the issue has no address to ask at; give it with --issue-url")
    from triage.job_session import JobRequest
    from triage.run_options import RunOptions, several

    options = RunOptions(
        supervisor,
        prompt,
        plan,
        guards,
        model,
        str(repo[0]) if repo else None,
        _text(out),
        record="yes" if record else None,
        thresholds=_text(thresholds),
        max_cost=None if max_cost is None else str(max_cost),
        max_tokens=None if max_tokens is None else str(max_tokens),
        **several(repo or (), path or ()),
    )
    terminal = Terminal(quiet=quiet, verbose=verbose, answers=list(answer or ()), asks=not ask_on_issue)
    name, orders, typed = job_id or f"job-{uuid.uuid4().hex[:8]}", tuple(redirect or ()), tuple(map(str, repo or ()))
    session = JobRequest(name, given, options, jobs, max_iterations, orders, typed)
    return _run(session, terminal, issue_url, asks=ask_on_issue)


def _check(resume: bool, job_id: str | None, issue: str | None, repo: list[Path] | None) -> None:
    if resume and (job_id is None or issue is not None):
        raise InputError("--resume goes on with a stored job: give --job-id, and leave --issue out")
    if not resume and issue is None:
        raise InputError("no issue: give --issue FILE, --issue - for standard input, or --resume --job-id ID")
    if not resume and not repo:
        raise InputError("no repository: give --repo FOLDER, the checkout the issue is about")
    if job_id is not None and not NAME.fullmatch(job_id):
        raise InputError(f"--job-id {job_id!r}: use letters, digits, dots, dashes and underscores")


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


def resume_command(
    job: Annotated[str, typer.Argument(help="Name of the job.")],
    from_issue: Annotated[bool, typer.Option("--from-issue", help="Take the reporter's next comment.")] = False,
    ask_on_issue: Annotated[bool, typer.Option("--ask-on-issue", help="Post further questions on the issue.")] = False,
    issue_url: Annotated[str | None, typer.Option(help="Address of the issue, if the job read a file.")] = None,
    repo: Annotated[list[Path] | None, typer.Option(help="The checkouts, if they were moved.")] = None,
    out: Annotated[Path | None, typer.Option(help="Another folder for the results.")] = None,
    jobs: Annotated[Path, typer.Option(help="SQLite file that keeps the jobs.")] = DEFAULT_JOBS,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the end of the job.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show every finding, call and request.")] = False,
) -> int:
    """Continue a stored job, as `triage run --resume` does; --from-issue continues with the reporter's answer.

    The answer is the first later comment of the account that opened the issue. Without one, the exit code is 4.
    """
    from triage.job_session import JobRequest
    from triage.publish_report import answer_on_issue
    from triage.run_options import RunOptions, several

    answers = []
    if from_issue:
        answer = answer_on_issue(jobs, job, issue_url, say)
        if answer is None:
            say("the reporter has not answered yet; the job is kept")
            return EXIT_UNFINISHED
        answers.append(answer)
    options = RunOptions(repo=str(repo[0]) if repo else None, out=_text(out), **several(repo or (), ()))
    terminal = Terminal(quiet, verbose, answers, asks=not (from_issue or ask_on_issue))
    session = JobRequest(job, None, options, jobs, repos_as_typed=tuple(map(str, repo or ())))
    return _run(session, terminal, issue_url, asks=ask_on_issue)


def _run(session: "JobRequest", terminal: Terminal, issue_url: str | None, *, asks: bool) -> int:
    """Run one session of a job; the exit code. Where it `asks`, a question that waits is posted on its issue."""
    from triage.job_session import run_session
    from triage.settings import unknown_variables
    from triage.terminal_screen import show

    for line in unknown_variables(os.environ):
        say(f"triage: {line}", "yellow")
    if terminal.verbose:
        show()
    session.account.heard, session.account.searched = terminal.called, terminal.searched
    try:
        code = asyncio.run(run_session(session, terminal))
    except KeyboardInterrupt:
        raise StoppedError(f"interrupted; {session.how_to_resume}") from None
    if asks and code == EXIT_UNFINISHED:
        from triage.publish_report import ask_reporter

        ask_reporter(session.jobs, session.name, issue_url, say)
    return code

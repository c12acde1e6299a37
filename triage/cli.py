"""The `triage` command: one issue and one checkout in; a report, a comment and a ticket out.

Exit codes:

    0    the report is written
    2    wrong usage, input or configuration; one line on stderr says what to do
    3    the endpoint failed; the job is kept and can be resumed
    4    unfinished: a question waits for its answer, or the writer failed; the job is kept
    130  interrupted; the job is kept
"""

import asyncio
import sys
import uuid
from pathlib import Path
from typing import Annotated, Final

import typer
from pydantic import ValidationError
from pydantic_settings.exceptions import SettingsError

from triage.errors import EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE, InputError, TriageError
from triage.state import DEFAULT_MAX_ITERATIONS
from triage.terminal import ask, say, tell

app = typer.Typer(
    name="triage",
    help="Triage a bug report with a team of agents.",
    epilog="Exit codes: 0 report written · 2 usage or input · 3 endpoint failed · 4 unfinished · 130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
HOME: Final = Path(".triage")

Repo = Annotated[Path, typer.Option(help="A checkout of the repository the issue is about.")]
Model = Annotated[str | None, typer.Option(help="One model for all agents; otherwise TRIAGE_MODELS and defaults.")]


@app.command("run")
def run_command(
    repo: Repo,
    issue: Annotated[
        str | None,
        typer.Option(help="Markdown (first line: title) or `gh issue view N --json title,body,url`; - is stdin."),
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
            help="Prompt of the supervisor: a version (v1 to v3 for llm, v4 for registry, plan-v1) or a .md file.",
            show_default="the newest of the supervisor's own",
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
    max_iterations: Annotated[int, typer.Option(min=1, help="Visits before the report.")] = DEFAULT_MAX_ITERATIONS,
    job_id: Annotated[str | None, typer.Option(help="Name of the job; made up if not given.")] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with --job-id where it was left, as it was begun.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Folder for the results; .triage/JOB-ID if not given.")] = None,
    jobs: Annotated[Path, typer.Option(help="SQLite file that keeps the jobs.")] = HOME / "jobs.sqlite",
    model: Model = None,
) -> int:
    """Run one job, or resume it, and write report.md, comment.md and ticket.json.

    The endpoint and its key are TRIAGE_BASE_URL and TRIAGE_API_KEY; TRIAGE_TAVILY_API_KEY lets the team search the web.
    """
    if resume and (job_id is None or issue is not None):
        raise InputError("--resume goes on with a stored job: give --job-id, and leave --issue out")
    if not resume and issue is None:
        raise InputError("no issue: give --issue FILE, --issue - for standard input, or --resume --job-id ID")
    from triage.issue import read_issue

    given = None if issue is None else read_issue(issue, sys.stdin)
    from triage.options import Options
    from triage.session import Session, run_session

    name = job_id or f"job-{uuid.uuid4().hex[:8]}"
    options = Options(supervisor, prompt, plan, guards)
    session = Session(name, repo, given, options, max_iterations, jobs, out or HOME / name, model)
    try:
        return asyncio.run(run_session(session, ask, tell, say))
    except KeyboardInterrupt:
        return _complain(f"interrupted; {session.how_to_resume}", EXIT_INTERRUPTED)


@app.command("serve")
def serve_command(
    repo: Repo,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 8100,
    model: Model = None,
) -> int:
    """Run the agents as a service: POST /agents/NAME/invoke."""
    from triage.session import serve

    asyncio.run(serve(repo, host, port, model))
    return EXIT_OK


def run() -> None:
    """The console script: runs a command and exits with its code; expected errors are one line, never a traceback."""
    sys.exit(main(sys.argv[1:]))


def main(arguments: list[str]) -> int:
    """Run one command line and return its exit code."""
    try:
        code = app(arguments, standalone_mode=False)
    except typer.Exit as stop:
        return stop.exit_code
    except typer.Abort:
        return EXIT_INTERRUPTED
    except (typer.TyperException, TriageError, SettingsError, ValidationError, OSError) as error:
        return _failed(error)
    return code if isinstance(code, int) else EXIT_OK


def _failed(error: Exception) -> int:
    """One line about what went wrong, and the exit code that means it."""
    match error:
        case TriageError():
            return _complain(str(error), error.exit_code)
        case typer.TyperException():
            return _complain(error.format_message(), EXIT_USAGE)
        case OSError():
            return _complain(f"{error.filename}: {error.strerror}; name a file or folder that can be used", EXIT_USAGE)
    return _complain(f"a TRIAGE_… variable is wrong ({_first_line(error)}); mappings are JSON", EXIT_USAGE)


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]


def _complain(message: str, code: int) -> int:
    say(f"triage: {message}", "red")
    return code

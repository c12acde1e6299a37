"""The `triage` command: one issue and one checkout in; a report, a comment and a ticket out.

Exit codes:

    0    the report is written
    2    wrong usage, input or configuration; one line on stderr says what to do
    3    the endpoint failed; the job is kept and can be resumed
    4    unfinished: a question waits for its answer, the writer failed, or the next request could pass --max-cost or
         --max-tokens; the job is kept, and so is what was written
    5    a report is written, but it rests on too little, and says so at its top; `publish --yes` does not post it
    130  interrupted; the job is kept
"""

import inspect
import sqlite3
from importlib.metadata import version
from typing import Annotated

import typer
from pydantic import ValidationError
from pydantic_settings.exceptions import SettingsError

from evals.shared.display_text import joined_lines
from evals.shared.secrets.rule import hold_environment
from triage.commands.job_commands import check_command, jobs_app, publish_command, serve_command
from triage.commands.run_job import resume_command, run_command
from triage.errors import EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE, INTERRUPTED, TriageError
from triage.terminal_screen import complain, put

app = typer.Typer(
    name="triage",
    help="Triage a bug report with a team of agents.",
    epilog="Exit codes: 0 report written · 2 usage or input · 3 endpoint failed · 4 unfinished · "
    "5 report rests on too little · 130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("run")(run_command)
app.command("resume")(resume_command)
app.command("serve")(serve_command)
app.command("check")(check_command)
app.command("publish")(publish_command)
app.add_typer(jobs_app, name="jobs")
for _command in app.registered_commands:
    _command.help = joined_lines(inspect.getdoc(_command.callback) or "")


def _show_version(wanted: bool) -> None:
    if wanted:
        put(f"triage {version('triage-evals')}")
        raise typer.Exit


@app.callback()
def triage(
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Triage a bug report with a team of agents."""


def main(arguments: list[str]) -> int:
    """Run one command line and return its exit code; expected errors are one line, never a traceback."""
    hold_environment()
    try:
        code = app(arguments, standalone_mode=False)
    except typer.Exit as stop:
        return stop.exit_code
    except (typer.Abort, KeyboardInterrupt):
        code = EXIT_INTERRUPTED
    except (typer.TyperException, TriageError, SettingsError, ValidationError, sqlite3.Error, OSError) as error:
        return _failed(error)
    except Exception as error:
        if KeyboardInterrupt.__name__ not in str(error):  # all that pydantic's core says of one it met
            raise
        code = EXIT_INTERRUPTED
    if code == EXIT_INTERRUPTED:  # typer turns Ctrl-C into this code, and says nothing
        return complain(INTERRUPTED, EXIT_INTERRUPTED)
    return code if isinstance(code, int) else EXIT_OK


def _failed(error: Exception) -> int:
    """One line about what went wrong, and the exit code that means it."""
    match error:
        case TriageError():
            return complain(str(error), error.exit_code)
        case typer.TyperException():
            return complain(error.format_message(), EXIT_USAGE)
        case sqlite3.Error():
            return complain(f"the jobs file is damaged ({error}); name another with --jobs", EXIT_USAGE)
        case OSError():
            return complain(f"{error.filename}: {error.strerror}; name a file or folder that can be used", EXIT_USAGE)
    return complain(f"a TRIAGE_… variable is wrong ({str(error).splitlines()[0]}); mappings are JSON", EXIT_USAGE)

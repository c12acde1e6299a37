"""The `evals` command: names, options and help texts; each command's work is in `evals.cli.commands`.

Exit codes, for every command:

    0    done; for `run`: judged, and not worse
    1    for `run`: judged, and worse; for `drift`: drifted; for `dataset lint`: something is wrong; for `cassette
         merge`: a conflict; for `sweep`: the choice did not hold on gate; for `selftest`: a fault was missed, or too
         many false alarms
    2    wrong usage or configuration; one line on stderr says what to do
    3    cannot judge: not recorded, corrupt, failed, or not comparable; for `plan`, `judge plan` and `judge check`:
         something is missing; for `record`: the endpoint failed, or a limit (--budget, --max-requests) was reached; for
         `drift`: so too, or it cannot tell; for `cassette verify`: something is wrong; for `langsmith`: no network, it
         does not take what it is given, or something looks like a secret
    130  interrupted; what was finished is kept
"""

import os
import traceback
from pathlib import Path
from typing import Annotated

import typer

from evals.cassette.disk import REMEDIES
from evals.cli.cassette import cassette
from evals.cli.dataset import dataset
from evals.cli.drifting import drifting
from evals.cli.export import export
from evals.cli.exporting import exporting
from evals.cli.judge import judge
from evals.cli.judging import judging
from evals.cli.langsmith import langsmith
from evals.cli.recording import recording
from evals.cli.terminal.console import VisibleConsole
from evals.errors import EXIT_CANNOT_JUDGE, EXIT_INTERRUPTED, EXIT_USAGE, EvalsError

app = typer.Typer(
    name="evals",
    help="Did my change make it worse? Offline evaluation and prompt regression for the triage graph.",
    epilog="Exit codes: 0 not worse (or done) · 1 worse · 2 usage or configuration · 3 cannot judge · 130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(judging)
app.add_typer(recording)
app.add_typer(drifting)
app.add_typer(exporting)
routes = typer.Typer(help="Score routes against a specification.", no_args_is_help=True)
app.add_typer(routes, name="routes")
app.add_typer(dataset, name="dataset")
app.add_typer(cassette, name="cassette")
app.add_typer(judge, name="judge")
app.add_typer(export, name="export")
app.add_typer(langsmith, name="langsmith")


@routes.command("score")
def routes_score_command(
    spec: Annotated[Path, typer.Option(help="JSON: {name, node_caps, alternatives}.")],
    traces: Annotated[Path, typer.Option(help="JSON: a list of {visits, state}.")],
    why: Annotated[bool, typer.Option("--why", help="Add what each rule came to, and which alone decides.")] = False,
    table: Annotated[bool, typer.Option("--table", help="The rules of each trace as a table, for people.")] = False,
) -> int:
    """Print F, P, E, A, H, hard, raw, R and pass of each trace, as a JSON list."""
    from evals.cli.commands.routes import score

    return score(spec, traces, explain=why, table=table)


def main(arguments: list[str]) -> int:
    """Run one command line and return its exit code."""
    try:
        code = app(arguments, standalone_mode=False)
    except typer.Exit as stop:
        code = stop.exit_code
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - Python exits 1 after a crash: here that means "worse"
        return _failed(error)
    if code == EXIT_INTERRUPTED:  # typer turns Ctrl-C into this code, and says nothing
        return _interrupted()
    return code if isinstance(code, int) else 0


def _failed(error: BaseException) -> int:
    """One line about what went wrong, and the exit code that means it."""
    match error:
        case typer.TyperException():
            if error.format_message():  # empty where only the help was asked for
                _complain(error.format_message())
            return EXIT_USAGE
        case EvalsError():
            _complain(str(error))
            return error.exit_code
        case OSError(strerror=str(cause), filename=place) if place is not None:  # a full disk, a locked folder
            _complain(f"{place}: {cause}; see to that, then run it again")
            return EXIT_CANNOT_JUDGE
        case OSError(errno=number, strerror=str(cause)) if number in REMEDIES:  # the same, of a stream or a cache
            _complain(f"something cannot be written ({cause}); {REMEDIES[number]}, then run it again")
            return EXIT_CANNOT_JUDGE
        case _ if _is_an_interrupt(error):
            return _interrupted()
    _complain(f"a bug of ours: {type(error).__name__}: {error}; nothing was judged (EVALS_DEBUG=1 shows where)")
    if os.environ.get("EVALS_DEBUG"):
        traceback.print_exception(error)
    return EXIT_CANNOT_JUDGE


def _is_an_interrupt(error: BaseException) -> bool:
    """Ctrl-C, also where it met a serializer: of what that raised pydantic's error has the name only."""
    return isinstance(error, KeyboardInterrupt | typer.Abort) or KeyboardInterrupt.__name__ in str(error)


def _interrupted() -> int:
    _complain("interrupted; what was finished is kept, run the same command to go on")
    return EXIT_INTERRUPTED


def _complain(message: str) -> None:
    VisibleConsole(stderr=True, soft_wrap=True).print(f"evals: {message}", style="red", markup=False, highlight=False)

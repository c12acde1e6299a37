"""The `evals` command: names, options and help texts; each command's work is in `evals.cli.commands`.

Exit codes, for every command:

    0    done; for `run`: judged, and not worse
    1    for `run`: judged, and worse; for `dataset lint`: something is wrong
    2    wrong usage or configuration; one line on stderr says what to do
    3    cannot judge: not recorded, corrupt, failed, or not comparable; for `plan`: something is missing
    130  interrupted; what was finished is kept
"""

import os
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from evals.cli.dataset import dataset
from evals.cli.options import (
    CORES,
    HERE,
    AnswerWith,
    Cases,
    Dataset,
    Export,
    Guards,
    Import,
    Jobs,
    KeepInvalid,
    MaxIterations,
    Model,
    Root,
    Rounds,
    Shards,
    Suite,
    Variants,
)
from evals.errors import EXIT_CANNOT_JUDGE, EXIT_INTERRUPTED, EXIT_USAGE, ConfigurationError, EvalsError

app = typer.Typer(
    name="evals",
    help="Did my change make it worse? Offline evaluation and prompt regression for the triage graph.",
    epilog="Exit codes: 0 not worse (or done) · 1 worse · 2 usage or configuration · 3 cannot judge · 130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
routes = typer.Typer(help="Score routes against a specification.", no_args_is_help=True)
app.add_typer(routes, name="routes")
app.add_typer(dataset, name="dataset")


@app.command("run")
def run_command(
    suite: Suite,
    guards: Guards = None,
    max_iterations: MaxIterations = None,
    case: Cases = None,
    variant: Variants = None,
    dataset: Dataset = None,
    jobs: Jobs = CORES,
    open_holdout: Annotated[
        str | None,
        typer.Option(metavar="WHY", help="Score the held-out cases too; counted, with the reason, in the dataset."),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run every trial again, whatever is cached.")] = False,
    out: Annotated[Path | None, typer.Option(help="Where the report goes; reports/latest if not given.")] = None,
    root: Root = HERE,
) -> int:
    """Replay a suite offline, score it, judge it, and write the report."""
    from evals.cli.commands.run import run
    from evals.cli.commands.selection import Options

    options = Options(guards, max_iterations, tuple(case or ()), tuple(variant or ()), dataset, open_holdout)
    return run(suite, root, options, jobs=jobs, fresh=fresh, out=out, today=datetime.now(UTC).date())


@app.command("bless")
def bless_command(suite: Suite, jobs: Jobs = CORES, root: Root = HERE) -> int:
    """Make the suite's present results its baseline. Commit the file it writes."""
    from evals.cli.commands.bless import bless

    return bless(suite, root, jobs=jobs, today=datetime.now(UTC).date())


@app.command("plan")
def plan_command(
    suite: Suite,
    guards: Guards = None,
    max_iterations: MaxIterations = None,
    case: Cases = None,
    variant: Variants = None,
    dataset: Dataset = None,
    jobs: Jobs = CORES,
    root: Root = HERE,
) -> int:
    """Say what is not recorded yet, per variant, and the command that records it."""
    from evals.cli.commands.plan import plan
    from evals.cli.commands.selection import Options

    options = Options(guards, max_iterations, tuple(case or ()), tuple(variant or ()), dataset)
    return plan(suite, root, options, jobs=jobs)


@app.command("record")
def record_command(
    suite: Suite,
    more_answers: Annotated[
        list[Path] | None, typer.Argument(metavar="[ANSWERS]...", help="More answer files for --import.")
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option(
            help="An OpenAI-compatible endpoint, /v1 included; if not given, the local model when it is being served.",
            envvar="EVALS_BASE_URL",
        ),
    ] = None,
    api_key_env: Annotated[str, typer.Option(help="The environment variable that holds the key.")] = "OPENAI_API_KEY",
    recorded_by: Annotated[
        str, typer.Option(help="Who answers for this recording; kept with every answer.")
    ] = "unnamed",
    guards: Guards = None,
    max_iterations: MaxIterations = None,
    case: Cases = None,
    variant: Variants = None,
    dataset: Dataset = None,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds one request may take.")] = 300,
    export: Export = None,
    import_: Import = None,
    rounds: Rounds = None,
    answer_with: AnswerWith = None,
    shards: Shards = 1,
    keep_invalid: KeepInvalid = False,
    model: Model = None,
    root: Root = HERE,
) -> int:
    """Ask an endpoint for what is missing, and only that; then prove that it replays.

    Without an endpoint: --export the requests as files, --import their answers, or have a command answer them.
    """
    from evals.cli.commands.record import record
    from evals.cli.commands.rounds import Batch, record_rounds
    from evals.cli.commands.selection import Options

    options = Options(guards, max_iterations, tuple(case or ()), tuple(variant or ()), dataset)
    if more_answers and not import_:
        raise ConfigurationError(f"one suite at a time: {more_answers[0]} is too much (answers go to --import)")
    answers = (*(import_ or ()), *(more_answers or ()))
    batch = Batch(export, answers, rounds, answer_with, shards, keep_invalid, recorded_by, model).checked()
    if batch.wanted:
        tavily_key = os.environ.get("TAVILY_API_KEY", "")
        return record_rounds(suite, root, options, batch, tavily_key=tavily_key, timeout_s=timeout)
    return record(
        suite,
        root,
        options,
        base_url=base_url,
        api_key=os.environ.get(api_key_env, ""),
        tavily_key=os.environ.get("TAVILY_API_KEY", ""),
        recorded_by=recorded_by,
        timeout_s=timeout,
    )


@app.command("frame")
def frame_command(
    run: Annotated[Path, typer.Argument(help="A run.json.")] = Path("reports/latest/run.json"),
    out: Annotated[Path, typer.Option(help="Where the table goes, as CSV.")] = Path("trials.csv"),
) -> int:
    """Write a stored run as a table with one row per trial and score."""
    from evals.cli.commands.frame import frame

    return frame(run, out)


@app.command("score-localisation")
def score_localisation_command(
    gold: Annotated[Path, typer.Option(help="Rows of SWE-bench, of LocAgent's benchmark, or plain ones (see above).")],
    pred: Annotated[Path, typer.Option(help="LocAgent's output, or plain rows.")],
    k: Annotated[str, typer.Option(help="The ranks to look at, with commas between.")] = "1,3,5,10",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> int:
    """Score named files and functions against where the fixes were: any tool's output, no dataset needed.

    A plain row is {"instance_id": …, "files": […], "functions": […]}, best first. A function is `path::name` or
    `path:Class.method`. It is scored twice: by its outermost definition, as gold is labelled here (`Class.method`
    counts as `Class`; LocAgent's module level), and as a whole name (LocAgent's function level). `.__init__` counts as
    its class in both.
    """
    from evals.cli.commands.localisation import score_localisation

    return score_localisation(gold, pred, k, as_json=as_json)


@routes.command("score")
def routes_score_command(
    spec: Annotated[Path, typer.Option(help="JSON: {name, node_caps, alternatives}.")],
    traces: Annotated[Path, typer.Option(help="JSON: a list of {visits, state}.")],
) -> int:
    """Print F, P, E, A, H, hard, raw, R and pass of each trace, as a JSON list."""
    from evals.cli.commands.routes import score

    return score(spec, traces)


def run() -> None:
    """The console script: runs a command and exits with its code; expected errors are one line, never a traceback."""
    sys.exit(main(sys.argv[1:]))


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
        case KeyboardInterrupt() | typer.Abort():
            return _interrupted()
    _complain(f"a bug of ours: {type(error).__name__}: {error}; nothing was judged (EVALS_DEBUG=1 shows where)")
    if os.environ.get("EVALS_DEBUG"):
        traceback.print_exception(error)
    return EXIT_CANNOT_JUDGE


def _interrupted() -> int:
    _complain("interrupted; what was finished is kept, run the same command to go on")
    return EXIT_INTERRUPTED


def _complain(message: str) -> None:
    Console(stderr=True, soft_wrap=True).print(f"evals: {message}", style="red", markup=False, highlight=False)

"""The `evals` command: names, options and help texts; each command's work is in `evals.cli.commands`.

Exit codes, for every command:

    0    done; for `run`: judged, and not worse
    1    for `run`: judged, and worse; for `dataset lint`: something is wrong; for `cassette merge`: a conflict
    2    wrong usage or configuration; one line on stderr says what to do
    3    cannot judge: not recorded, corrupt, failed, or not comparable; for `plan`: something is missing; for `record`:
         the endpoint failed, or a limit (--budget, --max-requests) was reached; for `cassette verify`: something is
         wrong
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

from evals.cli.cassette import cassette
from evals.cli.dataset import dataset
from evals.cli.options import (
    CORES,
    CORROBORATED,
    HERE,
    LATEST,
    SINGLE,
    AnswerWith,
    AsJson,
    Cases,
    Dataset,
    Export,
    Fresh,
    Guards,
    Import,
    Jobs,
    KeepInvalid,
    MaxIterations,
    Model,
    OpenHoldout,
    Prices,
    Root,
    Rounds,
    Samples,
    Shards,
    StoredRun,
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
app.add_typer(cassette, name="cassette")


@app.command("run")
def run_command(
    suite: Suite,
    guards: Guards = None,
    max_iterations: MaxIterations = None,
    case: Cases = None,
    variant: Variants = None,
    samples: Samples = None,
    dataset: Dataset = None,
    jobs: Jobs = CORES,
    open_holdout: OpenHoldout = None,
    fresh: Fresh = False,
    out: Annotated[Path | None, typer.Option(help="Where the report goes; reports/latest if not given.")] = None,
    root: Root = HERE,
) -> int:
    """Replay a suite offline, score it, judge it, and write the report."""
    from evals.cli.commands.run import run
    from evals.cli.commands.selection import Options

    options = Options(guards, max_iterations, tuple(case or ()), tuple(variant or ()), dataset, open_holdout, samples)
    return run(suite, root, options, jobs=jobs, fresh=fresh, out=out, today=datetime.now(UTC).date())


@app.command("compare")
def compare_command(
    sides: Annotated[
        list[str],
        typer.Argument(
            metavar="A B [C...]",
            help="Variants of the suite, prompt files (.md), git:REV, git:REV:v3 or git:REV:path.md.",
        ),
    ],
    suite: Annotated[str, typer.Option(help="Whose cases, models and policy to use.")] = "starter",
    case: Cases = None,
    dataset: Dataset = None,
    jobs: Jobs = CORES,
    fresh: Fresh = False,
    out: Annotated[Path | None, typer.Option(help="Where the report goes; reports/compare if not given.")] = None,
    root: Root = HERE,
) -> int:
    """Is the last one worse than the first? Any prompts, compared on the cases of a suite; exit codes as for `run`.

    `git:REV` alone is the prompt named beside it as of that revision, or that of the suite's candidate; if nothing else
    is named, it is compared with the working tree.
    """
    from evals.cli.commands.compare import compare
    from evals.cli.commands.selection import Options

    options = Options(cases=tuple(case or ()), dataset=dataset)
    return compare(sides, suite, root, options, jobs=jobs, fresh=fresh, out=out, today=datetime.now(UTC).date())


@app.command("gate")
def gate_command(
    run: StoredRun = LATEST,
    alpha: Annotated[float | None, typer.Option(help="Another level of significance.")] = None,
    margin: Annotated[float | None, typer.Option(help="Another margin of equivalence, as a fraction.")] = None,
    coverage_floor: Annotated[float | None, typer.Option(help="Another share of trials that must be exact.")] = None,
    require: Annotated[str | None, typer.Option(help="no_regression or equivalence.")] = None,
    root: Root = HERE,
) -> int:
    """Judge a stored run again, against the baseline as it is now; nothing is replayed. Exit codes as for `run`."""
    from evals.cli.commands.gate import gate

    return gate(run, root, alpha=alpha, margin=margin, coverage_floor=coverage_floor, require=require)


@app.command("selftest")
def selftest_command(
    suite: Annotated[str, typer.Argument(help="A shipped suite that is green, or a suite file.")] = "starter",
    jobs: Jobs = CORES,
    draws: Annotated[int, typer.Option(min=20, help="Generated comparisons per rate.")] = 200,
    root: Root = HERE,
) -> int:
    """Does the gate do what it says? Plants faults that must be caught, and counts false alarms; changes nothing.

    Exit codes: 0 all caught and no more false alarms than alpha, 1 not so, 3 the suite is not green to begin with.
    """
    from evals.cli.commands.selftest import selftest

    return selftest(suite, root, jobs=jobs, draws=draws, today=datetime.now(UTC).date())


@app.command("sweep")
def sweep_command(
    suite: Suite,
    single: Annotated[str, typer.Option(help="Thresholds that one finding needs: FROM:TO:STEP or a,b,c.")] = SINGLE,
    corroborated: Annotated[str, typer.Option(help="Thresholds that several findings need.")] = CORROBORATED,
    min_findings: Annotated[str, typer.Option(help="How many findings make several.")] = "2",
    sets: Annotated[
        str | None, typer.Option("--guards", help="Guard sets to try: all, or a,b,c; the variant's own if not given.")
    ] = None,
    variant: Annotated[
        str | None, typer.Option(help="The variant to vary; the suite's candidate if not given.")
    ] = None,
    score: Annotated[str, typer.Option(help="The score to choose by.")] = "route.score",
    case: Cases = None,
    dataset: Dataset = None,
    jobs: Jobs = CORES,
    open_holdout: OpenHoldout = None,
    out: Annotated[Path | None, typer.Option(help="Where the report goes; reports/sweep if not given.")] = None,
    root: Root = HERE,
) -> int:
    """Try thresholds and guard sets over the recorded tape, and recommend where to work: chosen on tune, held to gate.

    Exit codes: 0 recommended, 1 the choice did not hold on gate, 3 not recorded well enough to recommend anything.
    """
    from evals.cli.commands.selection import Options
    from evals.cli.commands.sweep import Axes, sweep

    axes = Axes(single, corroborated, min_findings, sets)
    options = Options(
        cases=tuple(case or ()), variants=(variant,) if variant else (), dataset=dataset, open_holdout=open_holdout
    )
    return sweep(suite, root, options, axes, score, jobs=jobs, out=out, today=datetime.now(UTC).date())


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
    samples: Samples = None,
    dataset: Dataset = None,
    jobs: Jobs = CORES,
    prices: Prices = None,
    as_json: AsJson = False,
    root: Root = HERE,
) -> int:
    """Say what is not recorded yet and why, what recording it takes, and the command that does it."""
    from evals.cli.commands.plan import plan
    from evals.cli.commands.selection import Options

    options = Options(guards, max_iterations, tuple(case or ()), tuple(variant or ()), dataset, samples=samples)
    return plan(suite, root, options, jobs=jobs, prices=prices, as_json=as_json)


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
        str | None,
        typer.Option(help="Who answers for this recording; kept with every answer. git's user.name if not given."),
    ] = None,
    budget: Annotated[
        float | None, typer.Option(min=0, metavar="USD", help="Stop before the request that could cost more than this.")
    ] = None,
    prices: Annotated[Path | None, typer.Option(help="A price table in place of the shipped one.")] = None,
    max_requests: Annotated[int | None, typer.Option(min=1, help="Stop after this many requests.")] = None,
    concurrency: Annotated[
        int | None, typer.Option(min=1, help="Requests in flight: 4 if not given; the local model is asked one by one.")
    ] = None,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Ask again for what the selected trials use, and replace it when proven.")
    ] = False,
    guards: Guards = None,
    max_iterations: MaxIterations = None,
    case: Cases = None,
    variant: Variants = None,
    samples: Samples = None,
    dataset: Dataset = None,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds one request may take.")] = 300,
    retries: Annotated[int, typer.Option(min=0, help="Tries after a rate limit, an outage or a cut connection.")] = 4,
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

    Exits with 0 when everything asked for is on tape and replays, with 3 when the endpoint fails or a limit (--budget,
    --max-requests) is reached. Ctrl-C finishes what is under way, keeps it, exits with 130; the same command goes on.

    Without an endpoint: --export the requests as files, --import their answers, or have a command answer them.
    """
    from evals.cli.commands.record import record
    from evals.cli.commands.rounds import Batch, record_rounds
    from evals.cli.commands.selection import Options

    options = Options(guards, max_iterations, tuple(case or ()), tuple(variant or ()), dataset, samples=samples)
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
        retries=retries,
        concurrency=concurrency,
        budget_usd=budget,
        max_requests=max_requests,
        refresh=refresh,
        prices=prices,
    )


@app.command("frame")
def frame_command(
    run: StoredRun = LATEST,
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
        case OSError(strerror=str(cause), filename=place) if place is not None:  # a full disk, a locked folder
            _complain(f"{place}: {cause}; see to that, then run it again")
            return EXIT_CANNOT_JUDGE
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

"""`evals judge`: check, plan, record."""

import os
from pathlib import Path
from typing import Annotated

import typer

from evals.atomic_files import write_files
from evals.cli.judge_terminal import JudgeEndpoint, because, effort, record_judge
from evals.cli.shared_options import (
    CORES,
    HERE,
    AnswerWith,
    AsJson,
    Export,
    Import,
    Jobs,
    KeepInvalid,
    Model,
    Prices,
    Root,
    Rounds,
    Shards,
)
from evals.cli.terminal import VisibleConsole, place_of, shown, wide_console
from evals.cli.terminal_output import replayed
from evals.errors import EXIT_CANNOT_JUDGE, EXIT_OK
from evals.models.judge import JudgeCheck
from evals.models.run_request import Options
from evals.pipeline.judge_stage import asking, bench, causes_of, checked, judge_effort, prompts_of, unanswered
from evals.pipeline.load_run import selected
from evals.pipeline.record_suite import Batch
from evals.prices import load_prices
from evals.recording.plan.plan_recording import Gatherer
from evals.report.html_page import render_judge
from evals.report.view.judge_view import lengths, position, rests_on, sentence, tables

judge = typer.Typer(help="A model that grades reports, and how far its grades can be trusted.", no_args_is_help=True)
Judged = Annotated[str, typer.Argument(help="A suite with a judge: a shipped one, or a suite file.")]


@judge.command("check")
def check_command(
    suite: Judged = "judged",
    jobs: Jobs = CORES,
    as_json: AsJson = False,
    out: Annotated[Path | None, typer.Option(help="Folder of the page (default: reports/judge).")] = None,
    root: Root = HERE,
) -> int:
    """How often does the judge see a planted defect, punish a harmless change, give in to an attack? From the tape.

    Exit codes: 0 measured, 3 some of its answers are not recorded.
    """
    return check(suite, root, jobs=jobs, as_json=as_json, out=out)


@judge.command("plan")
def plan_command(suite: Judged = "judged", jobs: Jobs = CORES, prices: Prices = None, root: Root = HERE) -> int:
    """Say what suite and check ask the judge that is not recorded, and why; 0 when nothing is missing, else 3."""
    return plan(suite, root, jobs=jobs, prices=prices)


@judge.command("record")
def record_command(
    suite: Judged = "judged",
    base_url: Annotated[
        str | None, typer.Option(help="An OpenAI-compatible endpoint, /v1 included.", envvar="EVALS_BASE_URL")
    ] = None,
    api_key_env: Annotated[str, typer.Option(help="The environment variable that holds the key.")] = "OPENAI_API_KEY",
    recorded_by: Annotated[str | None, typer.Option(help="Who answers; git's user.name if not given.")] = None,
    budget: Annotated[float | None, typer.Option(min=0, metavar="USD", help="Stop before it costs more.")] = None,
    prices: Prices = None,
    max_requests: Annotated[int | None, typer.Option(min=1, help="Stop after this many requests.")] = None,
    concurrency: Annotated[int | None, typer.Option(min=1, help="Requests in flight: 4 if not given.")] = None,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds one request may take.")] = 300,
    retries: Annotated[int, typer.Option(min=0, help="Tries after a rate limit or an outage.")] = 4,
    export: Export = None,
    import_: Import = None,
    rounds: Rounds = None,
    answer_with: AnswerWith = None,
    shards: Shards = 1,
    keep_invalid: KeepInvalid = False,
    model: Model = None,
    jobs: Jobs = CORES,
    root: Root = HERE,
) -> int:
    """Ask the judge what the suite and the check lack: an endpoint, or by batch rounds. Exit codes as for `record`."""
    from evals.cli.judge_terminal import JudgeEndpoint
    from evals.pipeline.record_suite import Batch

    batch = Batch(export, tuple(import_ or ()), rounds, answer_with, shards, keep_invalid, recorded_by, model).checked()
    live = JudgeEndpoint(
        base_url=base_url,
        api_key=os.environ.get(api_key_env, ""),
        recorded_by=recorded_by,
        timeout_s=timeout,
        retries=retries,
        concurrency=concurrency,
        budget_usd=budget,
        max_requests=max_requests,
        prices=prices,
    )
    return record(suite, root, batch, live, jobs=jobs)


def check(name: str, root: Path, *, jobs: int, as_json: bool, out: Path | None) -> int:
    """Print what was measured; 0 when all of it could be, 3 when answers are missing.

    Raises:
        ConfigurationError: the suite asks no judge.
        CannotJudgeError: there is no good report to break.
    """
    chosen = selected(name, root, Options())
    prompts_of(chosen)  # a suite without a judge is said before the work, not after
    found = checked(chosen, replayed(chosen, jobs=jobs).traces)
    folder = out or chosen.workspace.reports / "judge"
    stored = "".join(found.pieces(indent=1)) + "\n"
    write_files(folder, {"index.html": render_judge(found), "judge.json": stored})
    if as_json:
        print(stored, end="")
    else:
        _say(found, place_of(folder / "index.html", chosen.workspace.root))
    return EXIT_CANNOT_JUDGE if found.missing else EXIT_OK


def _say(found: JudgeCheck, report: str) -> None:
    console = wide_console()
    console.print(rests_on(found), markup=False)
    for table in tables(found):
        console.print(shown(table))
    for line in (position(found), *lengths(found)):
        console.print(line, markup=False)
    console.print(sentence(found), style="bold", markup=False)
    console.print(f"Report: {report}", markup=False)


def plan(name: str, root: Path, *, jobs: int, prices: Path | None) -> int:
    """Print what is missing; 0 when nothing is, 3 otherwise."""
    table = load_prices(prices)
    chosen = selected(name, root, Options())
    traces = replayed(chosen, jobs=jobs).traces
    asked, planted = asking(chosen, traces), bench(chosen, traces)
    questions = (*asked.questions, *planted.questions)
    lacking = unanswered(chosen, questions)
    console = VisibleConsole(soft_wrap=True, highlight=False)
    if not lacking:
        console.print(f"Nothing is missing: all {len(questions)} questions to the judge are recorded.")
        return EXIT_OK
    console.print(
        f"{len(lacking)} requests to the judge are not recorded, of {len(asked.graded)} reports to grade, "
        f"{len(asked.paired)} questions about pairs, {len(planted.plants)} planted reports and {len(planted.again)} "
        "asked twice; equal ones are asked once"
    )
    for cause in causes_of(chosen, lacking):
        console.print(f"  {because(cause)}", markup=False)
    experience = Gatherer(chosen.workspace, chosen.variants).experience([case.id for case in chosen.cases])
    console.print(effort(judge_effort(chosen, lacking, experience, table)), markup=False)
    console.print(f"Record them with:\n  .venv/bin/evals judge record {name}", markup=False)
    return EXIT_CANNOT_JUDGE


def record(name: str, root: Path, batch: Batch, live: JudgeEndpoint, *, jobs: int) -> int:
    """Record it; the suite's trials have to be recorded.

    Raises:
        ConfigurationError: the suite asks no judge, or nobody is there to be asked.
        RecordingError: the endpoint or the command failed; what was answered is kept.
    """
    chosen = selected(name, root, Options())
    traces = replayed(chosen, jobs=jobs).traces
    questions = (*asking(chosen, traces).questions, *bench(chosen, traces).questions)
    return record_judge(chosen, questions, batch, live)

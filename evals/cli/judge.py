"""The commands about a model as a judge: names, options and help texts."""

import os
from pathlib import Path
from typing import Annotated

import typer

from evals.cli.options import (
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

    Exit codes: 0 measured, 3 some of its answers are not on tape.
    """
    from evals.cli.commands.judge_check import check

    return check(suite, root, jobs=jobs, as_json=as_json, out=out)


@judge.command("plan")
def plan_command(suite: Judged = "judged", jobs: Jobs = CORES, prices: Prices = None, root: Root = HERE) -> int:
    """Say what suite and check ask the judge that is not on tape, and why; 0 when nothing is missing, else 3."""
    from evals.cli.commands.judge_plan import plan

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
    from evals.cli.commands.judge_record import record
    from evals.cli.terminal.judging import Live
    from evals.pipeline.rounds import Batch

    batch = Batch(export, tuple(import_ or ()), rounds, answer_with, shards, keep_invalid, recorded_by, model).checked()
    live = Live(
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

"""The commands that say what is not recorded and record it: names, options and help texts."""

import os
from pathlib import Path
from typing import Annotated

import typer

from evals.cli.options import (
    CORES,
    HERE,
    RETRIES,
    AnswerWith,
    ApiKeyEnv,
    AsJson,
    BaseUrl,
    Budget,
    Cases,
    Concurrency,
    Dataset,
    Export,
    Guards,
    Import,
    Jobs,
    KeepInvalid,
    MaxIterations,
    MaxRequests,
    Model,
    Prices,
    Retries,
    Root,
    Rounds,
    Samples,
    Shards,
    Suite,
    Timeout,
    Variants,
    refuse_live,
)
from evals.errors import EXIT_OK, ConfigurationError

recording = typer.Typer()


@recording.command("plan")
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
    from evals.pipeline.options import Options

    options = Options(guards, max_iterations, tuple(case or ()), tuple(variant or ()), dataset, samples=samples)
    return plan(suite, root, options, jobs=jobs, prices=prices, as_json=as_json)


@recording.command("record")
def record_command(
    suite: Suite,
    more_answers: Annotated[
        list[Path] | None, typer.Argument(metavar="[ANSWERS]...", help="More answer files for --import.")
    ] = None,
    base_url: BaseUrl = None,
    api_key_env: ApiKeyEnv = "OPENAI_API_KEY",
    recorded_by: Annotated[
        str | None,
        typer.Option(help="Who answers for this recording; kept with every answer. git's user.name if not given."),
    ] = None,
    budget: Budget = None,
    prices: Prices = None,
    max_requests: MaxRequests = None,
    concurrency: Concurrency = None,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Ask again for what the selected trials use, and replace it when proven.")
    ] = False,
    guards: Guards = None,
    max_iterations: MaxIterations = None,
    case: Cases = None,
    variant: Variants = None,
    samples: Samples = None,
    dataset: Dataset = None,
    timeout: Timeout = 300,
    retries: Retries = None,
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
    """Ask an endpoint for what is missing, and only that; then prove that it replays.

    Exits with 0 when everything asked for is on tape and replays, with 3 when the endpoint fails or a limit (--budget,
    --max-requests) is reached. Ctrl-C finishes what is under way, keeps it, exits with 130; the same command goes on.

    Without an endpoint: --export the requests as files, --import their answers, or have a command answer them.
    """
    from evals.cli.commands.record import record
    from evals.cli.commands.rounds import record_rounds
    from evals.pipeline.options import Options
    from evals.pipeline.rounds import Batch
    from evals.suites.load import load_suite

    options = Options(guards, max_iterations, tuple(case or ()), tuple(variant or ()), dataset, samples=samples)
    if more_answers and not import_:
        raise ConfigurationError(f"one suite at a time: {more_answers[0]} is too much (answers go to --import)")
    answers = (*(import_ or ()), *(more_answers or ()))
    batch = Batch(export, answers, rounds, answer_with, shards, keep_invalid, recorded_by, model).checked()
    tries = RETRIES if retries is None else retries
    if batch.wanted:
        refuse_live(
            base_url=None if base_url == os.environ.get("EVALS_BASE_URL") else base_url,
            budget=budget,
            prices=prices,
            max_requests=max_requests,
            concurrency=concurrency,
            refresh=refresh or None,
            retries=retries,
        )

    def judged(*, first: bool) -> int | None:
        from evals.cli.terminal.judging import Live, record_judged

        key = os.environ.get(api_key_env, "")
        live = Live(base_url, key, recorded_by, timeout, tries, concurrency, budget, max_requests, prices)
        return record_judged(suite, root, options, batch, live, jobs=jobs, first=first)

    asks_judge = load_suite(suite).judge is not None and not refresh
    if asks_judge and (code := judged(first=True)) is not None:
        return code
    tavily_key = os.environ.get("TAVILY_API_KEY", "")
    if batch.wanted:
        code = record_rounds(suite, root, options, batch, tavily_key=tavily_key, timeout_s=timeout, jobs=jobs)
    else:
        code = record(
            suite,
            root,
            options,
            base_url=base_url,
            api_key=os.environ.get(api_key_env, ""),
            tavily_key=tavily_key,
            recorded_by=recorded_by,
            timeout_s=timeout,
            retries=tries,
            concurrency=concurrency,
            budget_usd=budget,
            max_requests=max_requests,
            refresh=refresh,
            prices=prices,
            jobs=jobs,
        )
    further = judged(first=False) if asks_judge and code == EXIT_OK else None
    return code if further is None else further

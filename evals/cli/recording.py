"""The commands that say what is not recorded and record it: names, options and help texts."""

import os
from pathlib import Path
from typing import Annotated, Final

import typer

from evals.cli.options import (
    CORES,
    HERE,
    AnswerWith,
    AsJson,
    Cases,
    Dataset,
    Export,
    Guards,
    Import,
    Jobs,
    KeepInvalid,
    MaxIterations,
    Model,
    Prices,
    Root,
    Rounds,
    Samples,
    Shards,
    Suite,
    Variants,
)
from evals.errors import EXIT_OK, ConfigurationError

recording = typer.Typer()
RETRIES: Final = 4


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
    prices: Prices = None,
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
    retries: Annotated[
        int | None,
        typer.Option(min=0, help="Tries after a rate limit, an outage or a cut connection; 4 if not given."),
    ] = None,
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
        _refuse_live(
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


def _refuse_live(**options: object) -> None:
    """Batch rounds ask nobody, so what bounds the asking would do nothing there. Raises ConfigurationError."""
    if given := [f"--{name.replace('_', '-')}" for name, value in options.items() if value is not None]:
        raise ConfigurationError(
            f"{', '.join(given)}: only where an endpoint is asked, not in batch rounds; leave it out"
        )

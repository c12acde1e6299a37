"""The command that asks recorded requests again: its name, options and help texts."""

import os
from dataclasses import replace
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
    Import,
    Jobs,
    MaxRequests,
    Model,
    Prices,
    Retries,
    Root,
    Rounds,
    Shards,
    Suite,
    Timeout,
    Variants,
    refuse_live,
)

drifting = typer.Typer()


@drifting.command("drift")
def drift_command(
    suite: Suite,
    more_answers: Annotated[
        list[Path] | None, typer.Argument(metavar="[ANSWERS]...", help="More answer files for --import.")
    ] = None,
    sample: Annotated[int, typer.Option(min=1, help="Recorded requests to ask again.")] = 60,
    seed: Annotated[int, typer.Option(min=0, help="Another seed draws another sample.")] = 0,
    precision: Annotated[
        float, typer.Option(min=0.01, max=0.9, help="The change of decisions that must not be overlooked: 0.15.")
    ] = 0.15,
    base_url: BaseUrl = None,
    api_key_env: ApiKeyEnv = "OPENAI_API_KEY",
    budget: Budget = None,
    prices: Prices = None,
    max_requests: MaxRequests = None,
    concurrency: Concurrency = None,
    timeout: Timeout = 300,
    retries: Retries = None,
    case: Cases = None,
    variant: Variants = None,
    dataset: Dataset = None,
    extend: Annotated[
        bool, typer.Option("--extend", help="Keep the answers of the last sitting, and ask only what it lacks.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be asked and what it costs; ask nothing.")
    ] = False,
    export: Export = None,
    import_: Import = None,
    rounds: Rounds = None,
    answer_with: AnswerWith = None,
    shards: Shards = 1,
    model: Model = None,
    out: Annotated[Path | None, typer.Option(help="Where the sittings go; reports/drift/SUITE if not given.")] = None,
    as_json: AsJson = False,
    jobs: Jobs = CORES,
    root: Root = HERE,
) -> int:
    """Does the model still say what the tape says? Asks a random sample of the recorded requests again.

    Answers go to a folder of their own, never to cassettes/; the same command goes on where it broke off. Exits with 0
    representative, 1 drifted, 3 cannot tell (it says how many requests would), or the endpoint fails or a limit is
    reached.
    """
    from evals.cli.commands.drift import Live, drift
    from evals.errors import ConfigurationError
    from evals.pipeline.drift import Wish
    from evals.pipeline.options import Options
    from evals.pipeline.rounds import Batch

    if more_answers and not import_:
        raise ConfigurationError(f"one suite at a time: {more_answers[0]} is too much (answers go to --import)")
    answers = (*(import_ or ()), *(more_answers or ()))
    batch = Batch(export, answers, rounds, answer_with, shards, model=model).checked()
    if batch.wanted:
        refuse_live(
            base_url=None if base_url == os.environ.get("EVALS_BASE_URL") else base_url,
            budget=budget,
            max_requests=max_requests,
            concurrency=concurrency,
            retries=retries,
        )
        batch = replace(batch, keep_invalid=True)  # what breaks its schema is what the model says now
    live = Live(
        base_url,
        os.environ.get(api_key_env, ""),
        timeout,
        RETRIES if retries is None else retries,
        concurrency,
        budget,
        max_requests,
    )
    return drift(
        suite,
        root,
        Options(cases=tuple(case or ()), variants=tuple(variant or ()), dataset=dataset),
        Wish(sample, seed, precision),
        live,
        batch,
        prices=prices,
        out=out,
        extend=extend,
        dry_run=dry_run,
        as_json=as_json,
        jobs=jobs,
    )

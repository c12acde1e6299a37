"""`evals drift`."""

import asyncio
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from evals.analysis.drift_session import Failed, Sitting, Wanted
from evals.cassettes.interaction import Interaction
from evals.cli.endpoint_options import INTERRUPTED, at_once, finishing_on_interrupt, llm_endpoint
from evals.cli.shared_options import (
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
from evals.cli.terminal import VisibleConsole, bar, place_of, shown, wide_console
from evals.cli.terminal_output import replayed
from evals.errors import EXIT_CANNOT_JUDGE, EXIT_INTERRUPTED, EXIT_OK, RecordingError, RecordingStoppedError
from evals.models.drift_result import Drift
from evals.models.run_request import Options
from evals.pipeline.drift_check import Sampled, Wish, ask_endpoint, ask_rounds, batch_of, concluded, folder_of, sampled
from evals.pipeline.load_run import selected, to_be_run
from evals.pipeline.record_suite import Batch, EndpointOptions, recorder_of
from evals.pipeline.run_suite import begun
from evals.prices import PriceTable, load_prices
from evals.recording.endpoint import Endpoint
from evals.recording.rounds.answer_files import Answers
from evals.recording.rounds.round_files import Round, by_file, write_round
from evals.recording.rounds.round_step import RoundState
from evals.recording.spend import Meter, priced
from evals.report.view import drift_page as view
from evals.run_context import RunContext
from evals.secrets.allowed_secrets import FILE, read_allowed
from evals.shared.secrets.rule import hold

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
    from evals.errors import ConfigurationError
    from evals.models.run_request import Options
    from evals.pipeline.drift_check import Wish
    from evals.pipeline.record_suite import Batch

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
    live = DriftEndpoint(
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


@dataclass(frozen=True)
class DriftEndpoint:
    """Whom to ask, and how: the endpoint as it was named, its key, and the limits."""

    base_url: str | None
    api_key: str
    timeout_s: float
    retries: int
    concurrency: int | None
    budget_usd: float | None
    max_requests: int | None


def drift(
    name: str,
    root: Path,
    options: Options,
    wish: Wish,
    live: DriftEndpoint,
    batch: Batch,
    *,
    prices: Path | None,
    out: Path | None,
    extend: bool,
    dry_run: bool,
    as_json: bool,
    jobs: int,
) -> int:
    """Draw, ask, compare; 0 representative (or nothing was to be asked), 1 drifted, 3 cannot tell, or not all could be
    asked, 130 interrupted.

    Raises:
        ConfigurationError: no endpoint is named, or a budget is given and a price is not known.
        RecordingError: the endpoint failed or a limit was reached; what was answered is kept for the next try.
    """
    hold(live.api_key)
    table = load_prices(prices)
    answers = batch.read(batch.answers)  # before anything is run: a misspelled file is no empty one
    chosen = to_be_run(selected(name, root, options))
    if live.budget_usd is not None:
        priced([info.variant.models for info in chosen.variants], table)
    llm = None if dry_run or batch.wanted else llm_endpoint(live.base_url, live.api_key)
    sitting = Sitting.at(folder_of(chosen, out), extend=extend)
    what = sampled(chosen, replayed(begun(chosen), jobs=jobs).traces, wish, sitting)
    _note(_going_to_ask(what, table, root))
    if dry_run:
        return EXIT_OK
    code = asyncio.run(_live(what, live, llm, table) if llm else _by_rounds(what, batch_of(batch, sitting), answers))
    if code != EXIT_OK:
        return code
    found = concluded(what, table)
    if as_json:
        print(found.model_dump_json(indent=2))
    else:
        _say(found, what.sitting.result, chosen)
    return found.verdict.exit_code


def _going_to_ask(what: Sampled, prices: PriceTable, root: Path) -> str:
    place = place_of(what.sitting.folder, root.resolve())
    drawn = f"{len(what.sample)} of {len(what.population.requests):,} recorded requests drawn (seed {what.wish.seed})"
    if not what.open:
        return f"{drawn}; all answers are in {place}."
    twice = sum(request.times > 1 for request in what.sample)
    repeats = f", {twice} of them twice (one recorded answer tells no noise)" if twice else ""
    return f"{drawn}{repeats}. To be asked: {view.cost(what.price(prices))}. Answers go to {place}."


async def _live(what: Sampled, live: DriftEndpoint, llm: Endpoint, prices: PriceTable) -> int:
    meter = Meter(prices, live.budget_usd, live.max_requests)
    asking = EndpointOptions(live.timeout_s, live.retries, at_once(llm, live.concurrency), refresh=False)
    with bar(f"asking {what.chosen.suite.name} again", len(what.open)) as progress:

        def answered(answer: Interaction) -> None:
            progress.say(f"{meter} · {answer.agent}")

        def heard(one: Wanted, failed: Failed) -> None:
            progress.step()
            if failed is not None and not isinstance(failed, RecordingStoppedError):
                progress.note(f"{one.request.case} {one.request.agent}: {failed}")

        recorder = recorder_of(meter, asking, None, answered=answered, say=progress.note)
        with finishing_on_interrupt(recorder, progress):
            lacking = await ask_endpoint(what, recorder, llm, live.timeout_s, heard=heard)
    if meter.answers:
        _note(f"{meter.answers} new answers from {llm.base_url} ({meter}).")
    if recorder.stop.reason is INTERRUPTED:
        return EXIT_INTERRUPTED
    if recorder.stop.reason is not None:
        raise recorder.stop.reason
    if lacking:
        raise RecordingError(f"{lacking} requests were not answered; what was answered is kept, run it again")
    return EXIT_OK


async def _by_rounds(what: Sampled, batch: Batch, answers: Answers) -> int:
    """0 once every answer is there, 3 as long as one waits: it has been written where that was asked for."""
    standing = await ask_rounds(what, batch, answers, say=_note, announce=_announce)
    if not standing.pending and not standing.failed:
        return EXIT_OK
    _note(f"{standing.proven} of {standing.trials} answers are there.")
    if batch.export and standing.pending:
        allowed = read_allowed(what.chosen.workspace.cassettes / FILE)
        found = write_round(batch.export, standing.pending, batch.shards, allowed)
        files = ", ".join(f"{name} ({count})" for name, count in sorted(by_file(found).items()))
        _note(
            f"Round {found.number} asks for {len(standing.pending)} in {found.folder}: {files}.\n"
            "Next: the same command again, with --import and the files that answer them."
        )
    return EXIT_CANNOT_JUDGE


def _announce(found: Round, standing: RoundState) -> None:
    _note(f"round {found.number}: {by_file(found).total()} requests; {standing.proven} answers are there")


def _say(found: Drift, result: Path, chosen: RunContext) -> None:
    console = wide_console()
    console.print(shown(view.field_table(found)))
    ways = view.turned_table(found)
    if ways.rows:
        console.print(shown(ways))
    for text in (view.who(found), view.re_recording(found)):
        console.print(text, markup=False)
    console.print(found.verdict.sentence, style=_STYLE[found.verdict.status], markup=False)
    for reason in found.verdict.reasons:
        console.print(f"  {reason}", markup=False)
    code = f"exit code {found.verdict.exit_code} ({found.verdict.status})"
    console.print(f"{code}. All of it: {place_of(result, chosen.workspace.root)}", markup=False)


_STYLE = {"representative": "bold green", "drifted": "bold red", "cannot tell": "bold yellow"}


def _note(text: str) -> None:
    VisibleConsole(stderr=True, soft_wrap=True).print(text, highlight=False, markup=False)

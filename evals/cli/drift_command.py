"""`evals drift`."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from evals.analysis.drift_session import Failed, Sitting, Wanted
from evals.cassettes.cassette_data import Interaction
from evals.cli.endpoint_or_batch import (
    Asking,
    announced,
    batch_of,
    end_of_asking,
    endpoint_of,
    finishing_on_interrupt,
    next_round,
    refuse_live,
)
from evals.cli.options import (
    AnswerWith,
    AsJson,
    BaseUrl,
    Budget,
    Cases,
    DriftSettings,
    DryRun,
    Export,
    Import,
    MaxRequests,
    MoreAnswers,
    Suite,
    Variants,
    given,
    set_option,
    settings,
)
from evals.cli.run_output import replayed
from evals.cli.terminal import bar, note, place_of, shown, wide_console
from evals.errors import EXIT_CANNOT_JUDGE, EXIT_OK, RecordingStoppedError
from evals.models.analysis_results import Drift
from evals.models.run_request import Options
from evals.pipeline.drift_check import Sampled, Wish, ask_endpoint, ask_rounds, concluded, folder_of, sampled
from evals.pipeline.load_suite import selected, to_be_run
from evals.pipeline.record_suite import Batch, recorder_of
from evals.pipeline.run_suite import begun
from evals.prices import PriceTable, load_prices
from evals.recording.batch_files import Answers, Round, write_round
from evals.recording.batch_rounds import RoundState
from evals.recording.endpoint import Endpoint
from evals.recording.recording_cost import Meter, priced
from evals.report.view import drift_page as view
from evals.run_context import RunContext
from evals.secret_filter import FILE, read_allowed
from evals.shared.secrets.rule import hold

drifting = typer.Typer()


@drifting.command("drift")
def drift_command(
    context: typer.Context,
    suite: Suite,
    more_answers: MoreAnswers = None,
    sample: Annotated[int, typer.Option(min=1, help="Number of recorded requests to send again.")] = 60,
    changed: Annotated[list[str] | None, set_option(DriftSettings)] = None,
    base_url: BaseUrl = None,
    budget: Budget = None,
    max_requests: MaxRequests = None,
    case: Cases = None,
    variant: Variants = None,
    extend: Annotated[bool, typer.Option("--extend", help="Send only requests that the last session did not.")] = False,
    dry_run: DryRun = False,
    export: Export = None,
    import_: Import = None,
    answer_with: AnswerWith = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the answers (default: reports/drift/SUITE).")] = None,
    as_json: AsJson = False,
) -> int:
    """Does the model still answer as recorded? Sends a random sample of the recorded requests again.

    Answers go to a separate folder, never to cassettes/. After an interrupt, the same command continues.

    Exit codes: 0 unchanged, 1 drifted, 3 cannot tell (says how many requests it needs), failed, or limit reached.
    """
    common, asked = given(context, dataset=True), settings(DriftSettings, changed)
    batch = batch_of(asked, export, import_, more_answers, answer_with)
    if batch.wanted:
        refuse_live(asked, base_url, budget=budget, max_requests=max_requests)
        batch = replace(batch, keep_invalid=True)  # what breaks its schema is what the model says now
    live = Asking.of(asked, base_url, budget, max_requests, common.prices)
    options = Options(cases=tuple(case or ()), variants=tuple(variant or ()), dataset=common.dataset)
    hold(live.api_key)
    table = load_prices(live.prices)
    answers = batch.read(batch.answers)  # before anything is run: a misspelled file is no empty one
    chosen = to_be_run(selected(suite, common.root, options))
    if live.budget_usd is not None:
        priced([info.variant.models for info in chosen.variants], table)
    llm = None if dry_run or batch.wanted else endpoint_of(live, chosen.workspace)
    sitting = Sitting.at(folder_of(chosen, out), extend=extend)
    wish = Wish(sample, asked.seed, asked.precision)
    what = sampled(chosen, replayed(begun(chosen), jobs=common.jobs).traces, wish, sitting)
    note(_going_to_ask(what, table, common.root))
    if dry_run:
        return EXIT_OK
    # answers to an earlier session would answer the same requests, and say nothing of today
    apart = batch.below(sitting.folder.name)
    code = asyncio.run(_live(what, live, llm, table) if llm else _by_rounds(what, apart, answers))
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


async def _live(what: Sampled, live: Asking, llm: Endpoint, prices: PriceTable) -> int:
    meter = Meter(prices, live.budget_usd, live.max_requests)
    asking = live.options(llm)
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
        note(f"{meter.answers} new answers from {llm.base_url} ({meter}).")
    return end_of_asking(recorder.stop, f"{lacking} requests were not answered" if lacking else "")


async def _by_rounds(what: Sampled, batch: Batch, answers: Answers) -> int:
    """0 once every answer is there, 3 as long as one waits: it has been written where that was asked for."""
    standing = await ask_rounds(what, batch, answers, say=note, announce=_announce)
    if not standing.pending and not standing.failed:
        return EXIT_OK
    note(f"{standing.proven} of {standing.trials} answers are there.")
    if batch.export and standing.pending:
        allowed = read_allowed(what.chosen.workspace.cassettes / FILE)
        found = write_round(batch.export, standing.pending, batch.shards, allowed)
        note(f"Round {found.number} asks for {len(standing.pending)} in {next_round(found)}")
    return EXIT_CANNOT_JUDGE


def _announce(found: Round, standing: RoundState) -> None:
    announced(found, f"{standing.proven} answers are there")


def _say(found: Drift, result: Path, chosen: RunContext) -> None:
    console = wide_console()
    console.print(shown(view.field_table(found)))
    ways = view.turned_table(found)
    if ways.rows:
        console.print(shown(ways))
    anew = f"Recording all of {found.suite} anew: {view.cost(found.recording)}."
    for text in (view.who(found), anew):
        console.print(text, markup=False)
    console.print(found.verdict.sentence, style=_STYLE[found.verdict.status], markup=False)
    for reason in found.verdict.reasons:
        console.print(f"  {reason}", markup=False)
    code = f"exit code {found.verdict.exit_code} ({found.verdict.status})"
    console.print(f"{code}. All of it: {place_of(result, chosen.workspace.root)}", markup=False)


_STYLE = {"representative": "bold green", "drifted": "bold red", "cannot tell": "bold yellow"}

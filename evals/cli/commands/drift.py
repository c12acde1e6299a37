"""`evals drift`: ask a sample of the recorded requests again, and say whether the tape still is what the model says."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from evals.cassette.allowed_secrets import FILE, read_allowed
from evals.cassette.store import Interaction
from evals.cli.terminal.console import VisibleConsole, place_of, wide_console
from evals.cli.terminal.endpoint import at_once, llm_endpoint
from evals.cli.terminal.interrupts import INTERRUPTED, finishing_on_interrupt
from evals.cli.terminal.progress import bar
from evals.cli.terminal.replaying import replayed
from evals.cli.terminal.tables import shown
from evals.drift.ask import Failed
from evals.drift.sitting import Sitting, Wanted
from evals.errors import (
    EXIT_CANNOT_JUDGE,
    EXIT_INTERRUPTED,
    EXIT_OK,
    RecordingError,
    RecordingStoppedError,
)
from evals.models.drift import Drift
from evals.pipeline.drift import Sampled, Wish, ask_endpoint, ask_rounds, batch_of, concluded, folder_of, sampled
from evals.pipeline.options import Options
from evals.pipeline.record import Asking, recorder_of
from evals.pipeline.replay import begun
from evals.pipeline.rounds import Batch
from evals.pipeline.select import Selected, selected, to_be_run
from evals.prices import PriceTable, load_prices
from evals.recording.meter import Meter, priced
from evals.recording.rounds.advance import Standing
from evals.recording.rounds.answers import Answers
from evals.recording.rounds.export import Round, by_file, write_round
from evals.recording.wire import Endpoint
from evals.report.view import drift as view
from triage.secrecy.held import hold


@dataclass(frozen=True)
class Live:
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
    live: Live,
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


async def _live(what: Sampled, live: Live, llm: Endpoint, prices: PriceTable) -> int:
    meter = Meter(prices, live.budget_usd, live.max_requests)
    asking = Asking(live.timeout_s, live.retries, at_once(llm, live.concurrency), refresh=False)
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


def _announce(found: Round, standing: Standing) -> None:
    _note(f"round {found.number}: {by_file(found).total()} requests; {standing.proven} answers are there")


def _say(found: Drift, result: Path, chosen: Selected) -> None:
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

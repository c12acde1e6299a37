"""`evals record`: ask an endpoint for what the cassettes lack, and prove that the answers replay."""

import asyncio
from collections.abc import Collection
from pathlib import Path

from evals.cassette.stop import Stop
from evals.cassette.store import Interaction
from evals.cli.terminal.console import VisibleConsole
from evals.cli.terminal.endpoint import at_once, llm_endpoint, search_endpoint
from evals.cli.terminal.interrupt import INTERRUPTED, finishing_on_interrupt
from evals.cli.terminal.progress import Bar, bar
from evals.cli.terminal.replaying import replayed
from evals.errors import EXIT_INTERRUPTED, EXIT_OK, RecordingError, RecordingStoppedError
from evals.models.case import Case
from evals.models.suite import Variant
from evals.pipeline.options import Options
from evals.pipeline.record import Asking, record_suite, recorder_of
from evals.pipeline.replay import begun, proven, size
from evals.pipeline.select import Selected, selected
from evals.prices import load_prices
from evals.recording.author import author
from evals.recording.campaign import Outcome, Tally
from evals.recording.live import Recorded
from evals.recording.meter import Meter, priced
from evals.recording.wire import Endpoint
from evals.runner.pool import TrialId
from triage.secrecy.held import hold


def record(
    name: str,
    root: Path,
    options: Options,
    *,
    base_url: str | None,
    api_key: str,
    tavily_key: str,
    recorded_by: str | None,
    timeout_s: float,
    retries: int,
    concurrency: int | None,
    budget_usd: float | None,
    max_requests: int | None,
    refresh: bool,
    prices: Path | None,
    jobs: int,
) -> int:
    """Record what a suite lacks; returns 0 when everything asked for is on tape and proven to replay, 130 when it was
    interrupted.

    Raises:
        ConfigurationError: no endpoint is named, the recorder's name cannot be kept, or a budget is given and a price
            is not known.
        RecordingError: the endpoint failed, a limit was reached or a trial does not replay; what was answered is kept
            for the next try.
    """
    hold(api_key, tavily_key)
    chosen = selected(name, root, options)
    meter = Meter(load_prices(prices), budget_usd, max_requests)
    if budget_usd is not None:
        priced([info.variant.models for info in chosen.variants], meter.prices)
    name_kept = author(recorded_by, chosen.workspace)
    llm = llm_endpoint(base_url, api_key)
    on_tape = () if refresh else proven(replayed(begun(chosen), jobs=jobs).traces)
    asking = Asking(timeout_s, retries, at_once(llm, concurrency), refresh)
    with search_endpoint(chosen.workspace.datasets, tavily_key) as search:
        return asyncio.run(_record(chosen, llm, search, meter, asking, name_kept, on_tape))


async def _record(
    chosen: Selected,
    llm: Endpoint,
    search: Endpoint,
    meter: Meter,
    asking: Asking,
    recorded_by: str,
    on_tape: Collection[TrialId],
) -> int:
    samples = chosen.suite.samples
    with bar(f"recording {chosen.suite.name}", size(chosen) - len(on_tape)) as progress:

        def told(case: Case, variant: Variant, sample: int, outcome: Outcome) -> None:
            which = f" sample {sample + 1}" if samples > 1 else ""
            _tell(progress, f"{case.id} {variant.name}{which}", outcome)

        def answered(answer: Interaction) -> None:
            progress.say(f"{meter} · {_spoken(answer)}")

        recorder = recorder_of(meter, asking, recorded_by, answered=answered, say=progress.note)
        with finishing_on_interrupt(recorder, progress):
            tally = await record_suite(chosen, recorder, llm, search, asking, on_tape=on_tape, told=told)
    return _concluded(chosen, tally, meter, llm, recorder.stop)


def _concluded(chosen: Selected, tally: Tally, meter: Meter, llm: Endpoint, stop: Stop) -> int:
    """The last lines, and the exit code or error that goes with them."""
    if tally.proven or meter.answers:
        VisibleConsole(soft_wrap=True).print(
            f"Recorded {chosen.suite.name}: {tally.proven} of {tally.planned} trials replay exactly, {meter.answers} "
            f"new answers from {llm.base_url} ({meter}).",
            highlight=False,
        )
    if stop.reason is INTERRUPTED:
        return EXIT_INTERRUPTED
    if stop.reason is not None:
        raise stop.reason
    if tally.failed:
        raise RecordingError(f"{tally.failed} trials were not recorded; what was answered is kept, run it again")
    return EXIT_OK


def _tell(progress: Bar, where: str, outcome: Outcome) -> None:
    """One line per trial; why everything stopped is said once, at the end."""
    if isinstance(outcome, Recorded):
        answers = f"{outcome.asked + outcome.reused} answers, {outcome.asked} of them not on tape before"
        progress.note(f"{where}: {' '.join(outcome.trace.route)} ({answers})")
    elif not isinstance(outcome, RecordingStoppedError):
        progress.note(f"{where}: {outcome}")
    progress.step(where)


def _spoken(answer: Interaction) -> str:
    tokens = answer.usage.prompt_tokens + answer.usage.completion_tokens
    return f"{answer.agent}: {tokens} tokens in {answer.latency_ms / 1000:.0f} s"

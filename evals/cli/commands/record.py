"""`evals record`: ask an endpoint for what the cassettes lack, and prove that the answers replay."""

import asyncio
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from evals.cassette.apart import Apart
from evals.cassette.held import hold
from evals.cassette.recorder import Recorder
from evals.cassette.stop import Stop
from evals.cassette.store import Interaction
from evals.cli.terminal.console import VisibleConsole
from evals.cli.terminal.endpoint import at_once, llm_endpoint, search_endpoint
from evals.cli.terminal.progress import Bar, bar
from evals.dataset.codebase import materialise
from evals.errors import (
    EXIT_INTERRUPTED,
    EXIT_OK,
    RecordingError,
    RecordingStoppedError,
)
from evals.models.case import Case
from evals.models.suite import Variant
from evals.pipeline.options import Options
from evals.pipeline.select import Selected, selected
from evals.prices import load_prices
from evals.recording.author import author
from evals.recording.campaign import Outcome, Tally, record_trials
from evals.recording.live import Recorded, Session, SubjectOf, end_refresh
from evals.recording.meter import Meter, priced
from evals.recording.retry import Patience
from evals.recording.wire import Endpoint, OpenAIWire
from evals.subject.trial import Repository, Subject, embedder_at

_INTERRUPTED: Final = RecordingStoppedError("interrupted")


@dataclass(frozen=True)
class Asking:
    """How the endpoint is asked, and whether again."""

    timeout_s: float
    retries: int
    concurrency: int
    refresh: bool


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
    asking = Asking(timeout_s, retries, at_once(llm, concurrency), refresh)
    with search_endpoint(chosen.workspace.datasets, tavily_key) as search:
        return asyncio.run(_record(chosen, llm, search, meter, asking, name_kept))


async def _record(
    chosen: Selected, llm: Endpoint, search: Endpoint, meter: Meter, asking: Asking, recorded_by: str
) -> int:
    suite, workspace = chosen.suite, chosen.workspace
    embedder = embedder_at(workspace.vectors)

    def open_case(case: Case) -> SubjectOf:
        repository = Repository.over(materialise(case, workspace.datasets, workspace.cache), embedder)
        return lambda variant, clients: Subject.of(variant, clients, repository)

    with bar(f"recording {suite.name}", len(chosen.cases) * len(chosen.variants) * suite.samples) as progress:

        def told(case: Case, variant: Variant, sample: int, outcome: Outcome) -> None:
            which = f" sample {sample + 1}" if suite.samples > 1 else ""
            _tell(progress, f"{case.id} {variant.name}{which}", outcome)
            if isinstance(outcome, Recorded) and embedder.computed:
                embedder.cache.save(workspace.vectors)
                embedder.computed = 0

        recorder = _recorder(meter, asking, recorded_by, progress)
        recorder.apart = apart = Apart()
        session = Session(
            workspace,
            recorder,
            OpenAIWire(llm),
            search,
            asking.timeout_s,
            samples=suite.samples,
            refresh=asking.refresh,
        )
        try:
            with _finishing_on_interrupt(recorder, progress):
                tally = await record_trials(
                    session,
                    chosen.cases,
                    [info.variant for info in chosen.variants],
                    suite.samples,
                    at_once=asking.concurrency,
                    stop=recorder.stop,
                    open_case=open_case,
                    told=told,
                )
        finally:
            await session.close()
            apart.end()
    if asking.refresh and tally.proven == tally.planned:
        end_refresh(workspace, [case.id for case in chosen.cases])
    return _concluded(chosen, tally, meter, llm, recorder.stop)


def _recorder(meter: Meter, asking: Asking, recorded_by: str, progress: Bar) -> Recorder:
    stop = Stop()
    return Recorder(
        now=_now,
        stopwatch=time.monotonic,
        recorded_by=recorded_by,
        slots=asyncio.Semaphore(asking.concurrency),
        admit=meter.admit,
        settle=meter.settle,
        recorded=lambda answer: progress.say(f"{meter} · {_spoken(answer)}"),
        persist=Patience(stop, retries=asking.retries, timeout_s=asking.timeout_s, now=_now, say=progress.note),
        stop=stop,
    )


def _concluded(chosen: Selected, tally: Tally, meter: Meter, llm: Endpoint, stop: Stop) -> int:
    """The last lines, and the exit code or error that goes with them."""
    if tally.proven or meter.answers:
        VisibleConsole(soft_wrap=True).print(
            f"Recorded {chosen.suite.name}: {tally.proven} of {tally.planned} trials replay exactly, {meter.answers} "
            f"new answers from {llm.base_url} ({meter}).",
            highlight=False,
        )
    if stop.reason is _INTERRUPTED:
        return EXIT_INTERRUPTED
    if stop.reason is not None:
        raise stop.reason
    if tally.failed:
        raise RecordingError(f"{tally.failed} trials were not recorded; what was answered is kept, run it again")
    return EXIT_OK


@contextmanager
def _finishing_on_interrupt(recorder: Recorder, progress: Bar) -> Iterator[None]:
    """Ctrl-C ends the asking, not what was asked: answers under way are paid for. The second one ends everything."""
    loop = asyncio.get_running_loop()

    def interrupt() -> None:
        loop.remove_signal_handler(signal.SIGINT)
        recorder.stop.set(_INTERRUPTED)
        progress.note(f"finishing {recorder.in_flight} requests under way; Ctrl-C again leaves them")

    if threading.current_thread() is not threading.main_thread():
        yield  # signals are the main thread's
        return
    loop.add_signal_handler(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)


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


def _now() -> datetime:
    return datetime.now(UTC)

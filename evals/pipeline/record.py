"""Record from an endpoint: what is on tape and replays stays, the rest of the trials is recorded and proven."""

import asyncio
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime

from evals.cassette.apart import Apart
from evals.cassette.recorder import Recorder
from evals.cassette.stop import Stop
from evals.cassette.store import Interaction
from evals.models.case import Case
from evals.models.suite import Variant
from evals.pipeline.select import Selected
from evals.recording.campaign import Outcome, Tally, Told, record_trials
from evals.recording.live import Recorded, Session, SubjectOf, end_refresh
from evals.recording.meter import Meter
from evals.recording.retry import Patience
from evals.recording.wire import Endpoint, OpenAIWire
from evals.runner.pool import TrialId
from evals.subject.repositories import Repositories
from evals.subject.trial import Subject


@dataclass(frozen=True)
class Asking:
    """How the endpoint is asked, and whether again."""

    timeout_s: float
    retries: int
    concurrency: int
    refresh: bool


def recorder_of(
    meter: Meter,
    asking: Asking,
    recorded_by: str | None,
    *,
    answered: Callable[[Interaction], None],
    say: Callable[[str], None],
) -> Recorder:
    """A recorder that asks within the limits of `meter`. `answered` hears of each answer, `say` of each new try."""
    stop = Stop()
    return Recorder(
        now=_now,
        stopwatch=time.monotonic,
        recorded_by=recorded_by,
        slots=asyncio.Semaphore(asking.concurrency),
        admit=meter.admit,
        settle=meter.settle,
        recorded=answered,
        persist=Patience(stop, retries=asking.retries, timeout_s=asking.timeout_s, now=_now, say=say),
        stop=stop,
    )


async def record_suite(
    chosen: Selected,
    recorder: Recorder,
    llm: Endpoint,
    search: Endpoint,
    asking: Asking,
    *,
    on_tape: Collection[TrialId],
    told: Told,
) -> Tally:
    """Every trial that is not `on_tape` recorded and proven, as far as the endpoint goes; `told` hears of each.

    Raises:
        EvalsError: a case could not be opened or closed.
    """
    suite, workspace = chosen.suite, chosen.workspace
    repositories = Repositories(workspace)

    def open_case(case: Case) -> SubjectOf:
        repository = repositories.of(case)
        return lambda variant, clients: Subject.of(variant, clients, repository)

    def heard(case: Case, variant: Variant, sample: int, outcome: Outcome) -> None:
        told(case, variant, sample, outcome)
        if isinstance(outcome, Recorded):
            repositories.save()

    session = Session(
        workspace,
        recorder,
        OpenAIWire(llm),
        search,
        asking.timeout_s,
        samples=suite.samples,
        refresh=asking.refresh,
    )
    recorder.apart = apart = Apart()
    try:
        tally = await record_trials(
            session,
            chosen.cases,
            [info.variant for info in chosen.variants],
            suite.samples,
            at_once=asking.concurrency,
            stop=recorder.stop,
            open_case=open_case,
            close_case=repositories.close,
            told=heard,
            on_tape=on_tape,
        )
    finally:
        await session.close()
        apart.end()
    if asking.refresh and tally.proven == tally.planned:
        end_refresh(workspace, [case.id for case in chosen.cases])
    return tally


def _now() -> datetime:
    return datetime.now(UTC)

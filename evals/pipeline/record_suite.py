"""Record a suite from an endpoint or by batch rounds."""

import asyncio
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from evals.cassettes.interaction import Interaction
from evals.cassettes.io_thread import Apart
from evals.cassettes.recorder import Recorder, StopSignal
from evals.errors import ConfigurationError
from evals.models.case import Case
from evals.models.suite import Variant
from evals.recording.endpoint import Endpoint, EndpointRetry, OpenAIWire, author
from evals.recording.recording_session import (
    Outcome,
    RecordedTrial,
    RecordingSession,
    TrialCounts,
    TrialListener,
    record_trials,
)
from evals.recording.rounds.answer_files import Answers
from evals.recording.rounds.round_files import BatchWire, Round, rounds_in
from evals.recording.rounds.round_loop import Answerer, drive
from evals.recording.rounds.round_step import Frontier, RoundState, Say
from evals.recording.spend import Meter
from evals.run_context import RunContext
from evals.runner.trials import TrialId
from evals.secrets.allowed_secrets import AllowedSecrets


@dataclass(frozen=True)
class EndpointOptions:
    """How the endpoint is asked, and whether again."""

    timeout_s: float
    retries: int
    concurrency: int
    refresh: bool


def recorder_of(
    meter: Meter,
    asking: EndpointOptions,
    recorded_by: str | None,
    *,
    answered: Callable[[Interaction], None],
    say: Callable[[str], None],
) -> Recorder:
    """A recorder that asks within the limits of `meter`. `answered` hears of each answer, `say` of each new try."""
    stop = StopSignal()
    return Recorder(
        now=_now,
        stopwatch=time.monotonic,
        recorded_by=recorded_by,
        slots=asyncio.Semaphore(asking.concurrency),
        admit=meter.admit,
        settle=meter.settle,
        recorded=answered,
        persist=EndpointRetry(stop, retries=asking.retries, timeout_s=asking.timeout_s, now=_now, say=say),
        stop=stop,
    )


async def record_suite(
    chosen: RunContext,
    recorder: Recorder,
    llm: Endpoint,
    search: Endpoint,
    asking: EndpointOptions,
    *,
    on_tape: Collection[TrialId],
    told: TrialListener,
) -> TrialCounts:
    """Every trial that is not `on_tape` recorded and proven, as far as the endpoint goes; `told` hears of each.

    Raises:
        EvalsError: a case could not be opened or closed.
    """
    suite, workspace = chosen.suite, chosen.workspace
    trials = workspace.pack.trials(workspace)

    def heard(case: Case, variant: Variant, sample: int, outcome: Outcome) -> None:
        told(case, variant, sample, outcome)
        if isinstance(outcome, RecordedTrial):
            trials.save()

    session = RecordingSession(
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
            open_case=trials.open,
            close_case=trials.close,
            told=heard,
            on_tape=on_tape,
        )
        if asking.refresh and tally.proven == tally.planned and not recorder.stop.reason:
            await session.end_refresh()
    finally:
        await session.close()
        apart.end()
    return tally


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Batch:
    """How the rounds are wanted: files out and in by hand, or a command that answers."""

    export: Path | None = None
    answers: tuple[Path, ...] = ()
    rounds: Path | None = None
    answer_with: str | None = None
    shards: int = 1
    keep_invalid: bool = False
    recorded_by: str | None = None
    model: str | None = None

    @property
    def wanted(self) -> bool:
        """Whether anything of this was asked for at all."""
        return bool(self.export or self.answers or self.rounds or self.answer_with)

    def checked(self) -> "Batch":
        """Raises ConfigurationError if the options do not go together."""
        if not self.wanted:
            if self.shards != 1 or self.keep_invalid or self.model:
                raise ConfigurationError(
                    "--shards, --keep-invalid and --model belong to batch rounds: add --export, --import or --rounds"
                )
        elif bool(self.rounds) != bool(self.answer_with):
            raise ConfigurationError(
                "--rounds DIR and --answer-with CMD go together: where rounds lie, who answers them"
            )
        elif self.shards != 1 and not (self.export or self.rounds):
            raise ConfigurationError("--shards splits a round that is written: add --export DIR, or leave it out")
        elif self.rounds and (self.export or self.answers):
            raise ConfigurationError("--rounds does what --export and --import do by hand: give one or the other")
        return self

    def read(self, paths: Sequence[Path]) -> Answers:
        """The answers in some files."""
        return Answers.read(paths, model=self.model, keep_invalid=self.keep_invalid)


async def round_by_round(
    chosen: RunContext,
    answers: Answers,
    batch: Batch,
    search: Endpoint,
    timeout_s: float,
    *,
    on_tape: Collection[TrialId],
    say: Say,
    announce: Callable[[Round, RoundState], None],
) -> tuple[RoundState, AllowedSecrets]:
    """Take answers in, and go on as long as a command gives more; where that leaves the trials, and what may go out.

    Args:
        chosen: cases and variants.
        answers: what came back so far.
        batch: how the rounds are wanted.
        search: who answers web searches.
        timeout_s: seconds one search may take.
        on_tape: the trials that replay from the cassettes as they are; they are not run again.
        say: hears of each trial that is finished now, and of each answer of no use.
        announce: hears of each round before a command answers it.

    Raises:
        ConfigurationError: the answering command cannot be started.
        RecordingError: it failed.
    """
    wire = BatchWire()
    recorder = Recorder(
        now=lambda: datetime.now(UTC),
        stopwatch=lambda: 0.0,  # nobody has measured what these answers took
        recorded_by=author(batch.recorded_by, chosen.workspace),
        model=batch.model,
        answerer=wire.answer,
    )
    session = RecordingSession(chosen.workspace, recorder, wire, search, timeout_s, samples=chosen.suite.samples)
    frontier = Frontier(
        workspace=chosen.workspace,
        cases=chosen.cases,
        variants=[info.variant for info in chosen.variants],
        samples=chosen.suite.samples,
        session=session,
        wire=wire,
        say=say,
        on_tape=on_tape,
    )
    try:
        if batch.rounds and batch.answer_with:
            answerer = Answerer.of(batch.answer_with)
            standing = await drive(frontier, batch.rounds, answerer, batch.shards, batch.read, announce)
        else:
            standing = await frontier.advance(answers, asked=last_asked(batch.export))
    finally:
        await session.close()
    return standing, frontier.allowed


def last_asked(folder: Path | None) -> list[str]:
    """What the round before asked: who answers it may have left something out."""
    return rounds_in(folder)[-1].ids() if folder and rounds_in(folder) else []

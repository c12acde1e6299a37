"""Record a suite from an endpoint or by batch rounds."""

import asyncio
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evals.cassettes.cassette_data import Interaction
from evals.cassettes.event_loop_thread import Apart
from evals.cassettes.recorder import Recorder, StopSignal
from evals.errors import ConfigurationError
from evals.models.case import Case
from evals.models.suite import Variant
from evals.models.trace import Trace
from evals.pipeline.load_suite import held_out, record_command
from evals.prices import PriceTable
from evals.recording.batch_files import Answers, BatchWire, Round, rounds_in
from evals.recording.batch_rounds import Advancing, Answerer, Frontier, RoundState, Say, drive
from evals.recording.endpoint import Endpoint, EndpointRetry, OpenAIWire, author
from evals.recording.plan_recording import (
    Gatherer,
    MissingVariant,
    RecordingPlan,
    by_cause,
    effort_of,
    missing_variants,
)
from evals.recording.recording_cost import Meter
from evals.recording.recording_session import (
    Outcome,
    RecordedTrial,
    RecordingSession,
    TrialCounts,
    TrialListener,
    record_trials,
)
from evals.run_context import RunContext
from evals.runner.trials import TrialId
from evals.secret_filter import AllowedSecrets


def planned(name: str, chosen: RunContext, traces: Sequence[Trace], prices: PriceTable) -> RecordingPlan:
    """The plan for what these traces lack."""
    broken = [trace.error or "failed" for trace in traces if trace.provenance.label == "failed"]
    variants = missing_variants([info.variant.name for info in chosen.variants], traces)
    everyone = [chosen.workspace.pack.describe(variant, chosen.workspace.root) for variant in chosen.suite.variants]
    gatherer = Gatherer(chosen.workspace, everyone)
    missed = gatherer.missed(traces) if variants else []
    models = {info.variant.name: info.variant.models for info in chosen.variants}
    found = RecordingPlan(
        suite=chosen.suite.name,
        trials=len(traces),
        variants=variants,
        causes=by_cause(missed),
        known=len({one.request for one in missed}),
        effort=effort_of(models, traces, gatherer.experience([case.id for case in chosen.cases]), prices)
        if variants
        else None,
        broken=tuple(dict.fromkeys(broken)),
        held_out=tuple(case.id for case in held_out(chosen.cases) if case.id in {one.request[0] for one in missed}),
        command=_command(name, chosen, variants) if variants else "",
    )
    if chosen.suite.judge is None:
        return found
    from evals.pipeline.judge_stage import with_judge  # noqa: PLC0415 - loads LangChain

    experience = gatherer.experience([case.id for case in chosen.cases])
    return with_judge(found, chosen, traces, experience, prices)


def _command(name: str, chosen: RunContext, variants: tuple[MissingVariant, ...]) -> str:
    """The command that records what is missing, and no variant that lacks nothing."""
    lacking = tuple(item.variant for item in variants)
    asked = chosen.options if len(lacking) == len(chosen.suite.variants) else replace(chosen.options, variants=lacking)
    return record_command(name, asked, chosen.workspace.root)


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
    skip: Collection[TrialId],
    told: TrialListener,
) -> TrialCounts:
    """Every trial that is not `skip` recorded and proven, as far as the endpoint goes; `told` hears of each.

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
            skip=skip,
        )
        if asking.refresh and tally.proven == tally.planned and not recorder.stop.reason:
            await session.end_refresh()
    finally:
        await session.close()
        apart.end()
    skipped = len(chosen.skipped)
    return replace(tally, planned=tally.planned - skipped, proven=tally.proven - skipped)


def _now() -> datetime:
    return datetime.now(UTC)


Announce = Callable[[Round, RoundState], None]
"""Hears of each round before a command answers it."""


@dataclass(frozen=True)
class Batch:
    """How the rounds are wanted: files out (below `export`) and in by hand, or a command that answers them."""

    export: Path | None = None
    answers: tuple[Path, ...] = ()
    answer_with: str | None = None
    shards: int = 1
    keep_invalid: bool = False
    recorded_by: str | None = None
    model: str | None = None

    @property
    def wanted(self) -> bool:
        """Whether anything of this was asked for at all."""
        return bool(self.export or self.answers or self.answer_with)

    def checked(self) -> "Batch":
        """Raises ConfigurationError if the options do not go together."""
        if not self.wanted:
            if self.shards != 1 or self.keep_invalid or self.model:
                raise ConfigurationError(
                    "shards, keep_invalid and model are settings of batch rounds: add --export or --import"
                )
        elif self.answer_with and (self.answers or not self.export):
            raise ConfigurationError(
                "--answer-with CMD goes with --export DIR, where its rounds lie, and does what --import does by hand"
            )
        elif self.shards != 1 and not self.export:
            raise ConfigurationError("shards splits a round that is written: add --export DIR, or leave it out")
        return self

    def below(self, name: str) -> "Batch":
        """The same with its rounds in the folder `name` of its folder: answers of others are not mixed in."""
        return replace(self, export=self.export / name if self.export else None)

    def read(self, paths: Sequence[Path]) -> Answers:
        """The answers in some files."""
        return Answers.read(paths, model=self.model, keep_invalid=self.keep_invalid)

    def recorder(self, recorded_by: str | None, **how: Any) -> Recorder:  # noqa: ANN401 - fields of the recorder
        """A recorder of answers that came in files; nobody has measured how long they took."""
        return Recorder(now=_now, stopwatch=lambda: 0.0, recorded_by=recorded_by, model=self.model, **how)

    async def advance(self, waiting: Advancing, answers: Answers, announce: Announce) -> RoundState:
        """Take answers in, and go on as long as the command gives more. Raises as `drive` and `Answerer.of`."""
        if self.answer_with and self.export:
            answerer = Answerer.of(self.answer_with)
            return await drive(waiting, self.export, answerer, self.shards, self.read, announce)
        written = rounds_in(self.export) if self.export else []
        return await waiting.advance(answers, asked=written[-1].ids() if written else ())


async def round_by_round(
    chosen: RunContext,
    answers: Answers,
    batch: Batch,
    search: Endpoint,
    timeout_s: float,
    *,
    skip: Collection[TrialId],
    say: Say,
    announce: Announce,
) -> tuple[RoundState, AllowedSecrets]:
    """Take answers in, and go on as long as a command gives more; where that leaves the trials, and what may go out.

    Args:
        chosen: cases and variants.
        answers: what came back so far.
        batch: how the rounds are wanted.
        search: who answers web searches.
        timeout_s: seconds one search may take.
        skip: the trials that replay from the cassettes as they are; they are not run again.
        say: hears of each trial that is finished now, and of each answer of no use.
        announce: hears of each round before a command answers it.

    Raises:
        ConfigurationError: the answering command cannot be started.
        RecordingError: it failed.
    """
    wire = BatchWire()
    recorder = batch.recorder(author(batch.recorded_by, chosen.workspace), answerer=wire.answer)
    session = RecordingSession(chosen.workspace, recorder, wire, search, timeout_s, samples=chosen.suite.samples)
    frontier = Frontier(
        workspace=chosen.workspace,
        cases=chosen.cases,
        variants=[info.variant for info in chosen.variants],
        samples=chosen.suite.samples,
        session=session,
        wire=wire,
        say=say,
        skip=skip,
        skipped=len(chosen.skipped),
    )
    try:
        standing = await batch.advance(frontier, answers, announce)
    finally:
        await session.close()
    return standing, frontier.allowed

"""Record the trials of a suite, or the answers of its judge, from an endpoint."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Protocol

import httpx2

from evals.application_pack import CaseRunner, PackClients
from evals.cassettes.calls_and_misses import Ledger
from evals.cassettes.cassette_data import Cassette, Interaction
from evals.cassettes.cassette_files import FOLDER, Readings, discard, keep_reading, load, merge_write
from evals.cassettes.manifest import move_listed
from evals.cassettes.player import HttpxReplayTransport, Tape
from evals.cassettes.recorder import (
    HttpxRecordingTransport,
    Recorder,
    RecordingTransport,
    StopSignal,
    take_staged,
)
from evals.errors import EvalsError, RecordingError, UnansweredError
from evals.llm_judge.judge_questions import JudgeQuestion, JudgeReply, put, tape_for
from evals.models.case import Case
from evals.models.suite import Models, Variant
from evals.models.trace import Trace
from evals.recording.endpoint import Endpoint, TavilyWire, case_being_recorded
from evals.recording.failed_trials import failure_kept
from evals.recording.unusable_answers import FailuresInARow, UnusableAnswerError, UnusableAnswers
from evals.runner.trials import TrialId
from evals.workspace import Workspace


@dataclass(frozen=True)
class RecordedTrial:
    """What recording one trial gave. `asked` answers were new; trials side by side share some."""

    trace: Trace
    asked: int
    reused: int


class RecordingSession:
    """Records trials, side by side if asked to; one event loop, one wire to whoever answers, one search server."""

    def __init__(
        self,
        workspace: Workspace,
        recorder: Recorder,
        llm: httpx2.AsyncBaseTransport,
        search: Endpoint,
        timeout_s: float,
        *,
        samples: int = 1,
        refresh: bool = False,
    ) -> None:
        self._workspace = workspace
        self._recorder = recorder
        self._samples = samples
        self._refresh = refresh
        self._fresh: dict[str, list[Interaction]] = {}  # a refreshed case's proven answers, before they replace others
        self._trees: dict[str, str | None] = {}
        self._unusable = UnusableAnswers()
        self._clients = workspace.pack.recording_clients(
            RecordingTransport(recorder, llm), HttpxRecordingTransport(recorder, TavilyWire(search)), timeout_s
        )

    async def record(self, case: Case, variant: Variant, sample: int, trials: CaseRunner) -> RecordedTrial:
        """Record what one trial lacks, prove that it replays, and move it into the committed cassette.

        Raises:
            RecordingError: the endpoint failed, or the replay differs; what was answered stays staged.
            CassetteError: a cassette cannot be trusted or a secret was about to be written.
        """
        with failure_kept(self._workspace.cache, case.id, variant.name):
            return await self._record(case, variant, sample, trials)

    async def _record(self, case: Case, variant: Variant, sample: int, trials: CaseRunner) -> RecordedTrial:
        staging = self._staging(case.id)
        take_staged(staging)
        committed = load(self._workspace.cassette(case.id), Readings(self._workspace.cache / FOLDER))
        known = Cassette(staging, () if self._refresh else committed.interactions, tree=case.tree)
        tape = Tape(known.union(load(staging).interactions), sample=sample, samples=self._samples)
        before = {(found.key, found.sample) for found in tape.cassette.interactions}
        case_being_recorded.set(case.id)
        failures = tape.ledger.failures
        trace = await trials.run(variant, tape, self._clients, halted=lambda: bool(failures))
        if failures:
            raise failures[0]
        if trace.provenance.label == "failed" and not variant.forced:  # where forced, that is a result
            self._unusable.add(staging, tape.ledger.served)
            told = "the graph fails with these answers" if tape.ledger.served else "the graph fails"
            raise UnusableAnswerError(f"{told} ({trace.error})", tape.ledger.served)
        if trace.misses or trace.point_misses:
            agent = (*trace.misses, *trace.point_misses)[0].agent
            raise UnansweredError(f"a request by {agent} went past the recording client; nothing was accepted")
        served = distinct(tape.ledger)
        clients = self._workspace.pack.replay_clients()
        await prove(case, variant, sample, trials, clients, Cassette(staging, served), trace, samples=self._samples)
        if self._refresh:
            self._fresh.setdefault(case.id, []).extend(served)
            self._trees[case.id] = case.tree
        else:
            await self._accept(case.id, served, tree=case.tree)
        fresh = [found for found in served if (found.key, found.sample) not in before]
        return RecordedTrial(trace, asked=len(fresh), reused=len(served) - len(fresh))

    async def close_case(self, case_id: str, *, whole: bool) -> None:
        """All trials of a case are over; `whole` if every one is proven."""
        self._recorder.forget(self._staging(case_id))
        self._unusable.remove(self._staging(case_id))
        if whole and not self._refresh:
            discard_staging(self._workspace, case_id)
        await self._read_ahead(case_id)

    async def end_refresh(self) -> None:
        """Replace the old answers, now that every trial of every case is proven; the next refresh asks anew."""
        for case_id, proven in self._fresh.items():
            await self._accept(case_id, proven, replace=True, tree=self._trees[case_id])
            await self._read_ahead(case_id)
        for case_id in self._fresh:
            self._staging(case_id).unlink(missing_ok=True)

    async def _accept(
        self, case_id: str, proven: Sequence[Interaction], *, tree: str | None, replace: bool = False
    ) -> None:
        """Move proven answers into the committed cassette. The proof is of no use where that keeps others."""
        path = self._workspace.cassette(case_id)
        merged = await asyncio.to_thread(merge_write, path, proven, replace=replace, tree=tree, move=move_listed)
        heard = (merged.exact(found.key, found.sample) or found for found in proven)
        if any(kept.body != found.body for kept, found in zip(heard, proven, strict=True)):
            raise RecordingError(
                f"another answer to a request of {case_id} came into {path.name} meanwhile, and stays; run it again"
            )

    async def _read_ahead(self, case_id: str) -> None:
        """Read what was written as the next run would, which then need not. Whatever is wrong, that run says."""
        with suppress(EvalsError):
            path, readings = self._workspace.cassette(case_id), Readings(self._workspace.cache / FOLDER)
            await asyncio.to_thread(keep_reading, path, readings)

    def _staging(self, case_id: str) -> Path:
        staging = staging_of(self._workspace, case_id)
        return staging.with_name("refresh") / staging.name if self._refresh else staging

    async def close(self) -> None:
        """Close the connections."""
        await self._clients.close()


async def prove(
    case: Case,
    variant: Variant,
    sample: int,
    trials: CaseRunner,
    clients: PackClients,
    cassette: Cassette,
    recorded: Trace,
    *,
    samples: int = 1,
) -> None:
    """The replay proof: offline, from these interactions alone, the trial gives the same trace again.

    Raises:
        RecordingError: it does not.
    """
    replayed = await trials.run(variant, Tape(cassette, sample=sample, samples=samples), clients)
    await clients.close()
    if replayed != recorded:
        raise RecordingError(
            f"{case.id} under {variant.name} does not replay: {difference(recorded, replayed)}. Nothing of this trial "
            "was accepted; it depends on time (set `clock`), chance, order or earlier trials: take that from the inputs"
        )


def difference(recorded: Trace, replayed: Trace) -> str:
    """The first field in which two traces part."""
    if replayed.misses:
        first = replayed.misses[0]
        told = [f" ({found.path}: {found.change})" for found in (first.nearest.differences if first.nearest else ())]
        return f"a request by {first.agent} is not recorded{''.join(told[:1])}"
    if recorded.walked != replayed.walked:
        return f"route {' '.join(recorded.walked)} became {' '.join(replayed.walked)}"
    fields = [name for name in Trace.model_fields if getattr(recorded, name) != getattr(replayed, name)]
    return f"{', '.join(fields)} differ"


def distinct(ledger: Ledger) -> list[Interaction]:
    """What was served, each interaction once."""
    return list({(found.key, found.sample): found for found in ledger.served}.values())


def discard_staging(workspace: Workspace, case_id: str) -> None:
    """Drop a case's staged answers once all are accepted; those another variant still waits for are paid for."""
    staging = staging_of(workspace, case_id)
    if staging.exists():
        discard(staging, load(workspace.cassette(case_id)))


def staging_of(workspace: Workspace, case_id: str) -> Path:
    """Where a case's answers wait for their proof."""
    return workspace.cache / "recording" / f"{case_id}.yaml"


Outcome = RecordedTrial | EvalsError
Open = Callable[[Case], CaseRunner]
"""Loads what the trials of a case need."""
Close = Callable[[Case], None]
"""Gives that code's memory back."""


class TrialListener(Protocol):
    """Hears of every trial that is over."""

    def __call__(self, case: Case, variant: Variant, sample: int, outcome: Outcome) -> None:
        """Proven, or why not."""


@dataclass(frozen=True)
class TrialCounts:
    """Trials planned, proven (before or now) and failed; the rest was not begun."""

    planned: int
    proven: int
    failed: int


async def record_trials(
    session: RecordingSession,
    cases: Sequence[Case],
    variants: Sequence[Variant],
    samples: int,
    *,
    at_once: int,
    stop: StopSignal,
    open_case: Open,
    close_case: Close,
    told: TrialListener,
    skip: Collection[TrialId] = (),
) -> TrialCounts:
    """Record every trial but those `skip`, which were proven before; one that fails leaves the others alone, a stop
    lets those under way come to their end.

    Raises:
        EvalsError: a case could not be opened or closed. Trials under way come to their end before: their answers are
            paid for.
    """
    gate, in_a_row = asyncio.Semaphore(at_once), FailuresInARow(stop)

    async def trial(case: Case, variant: Variant, sample: int, runner: CaseRunner) -> Outcome:
        outcome: Outcome
        try:
            outcome = await session.record(case, variant, sample, runner)
        except EvalsError as error:
            outcome = error
        finally:
            gate.release()
        in_a_row.count(outcome)
        told(case, variant, sample, outcome)
        return outcome

    def left(case: Case) -> list[tuple[Variant, int]]:
        """The trials of a case that are not proven yet."""
        every = product(variants, range(samples))
        return [(variant, sample) for variant, sample in every if (case.id, variant.name, sample) not in skip]

    async def closed(case: Case, trials: Sequence["asyncio.Task[Outcome]"]) -> list[Outcome]:
        outcomes = list(await asyncio.gather(*trials))
        close_case(case)
        whole = len(outcomes) == len(left(case)) and all(isinstance(each, RecordedTrial) for each in outcomes)
        await session.close_case(case.id, whole=whole)
        return outcomes

    closing, unopened = [], None
    for case in cases:
        runner, trials = None, []
        for variant, sample in left(case):
            await gate.acquire()
            if stop.reason:
                gate.release()
                break
            try:
                runner = runner or open_case(case)
            except EvalsError as error:
                gate.release()
                unopened = error
                break
            trials.append(asyncio.create_task(trial(case, variant, sample, runner)))
        closing.append(asyncio.create_task(closed(case, trials)))
        if stop.reason or unopened:
            break
    outcomes = _outcomes(await asyncio.gather(*closing, return_exceptions=True), unopened)
    planned, begun = len(cases) * len(variants) * samples, sum(len(left(case)) for case in cases)
    proven = sum(isinstance(outcome, RecordedTrial) for outcome in outcomes)
    return TrialCounts(planned, planned - begun + proven, len(outcomes) - proven)


def _outcomes(ended: Sequence[list[Outcome] | BaseException], unopened: EvalsError | None) -> list[Outcome]:
    """Of all cases, now that everything is over. Raises what kept a case from being opened or closed."""
    outcomes = []
    for case_outcomes in (*ended, *([unopened] if unopened else [])):
        if isinstance(case_outcomes, BaseException):
            raise case_outcomes
        outcomes += case_outcomes
    return outcomes


@dataclass(frozen=True)
class Settled:
    """What became of one question: nothing to say where it is proven to replay, else why it is not."""

    question: JudgeQuestion
    error: EvalsError | None = None


class JudgeSession:
    """Records questions to a judge; one event loop, one wire to whoever answers."""

    def __init__(
        self,
        workspace: Workspace,
        recorder: Recorder,
        llm: httpx2.AsyncBaseTransport,
        models: Models,
        timeout_s: float,
    ) -> None:
        self._workspace = workspace
        self._recorder = recorder
        self._models, self._unusable = models, UnusableAnswers()
        pack = workspace.pack
        self._clients = pack.recording_clients(RecordingTransport(recorder, llm), HttpxReplayTransport(), timeout_s)
        self._bench = pack.judge(self._clients, models)

    async def record_case(self, case_id: str, questions: Sequence[JudgeQuestion]) -> list[Settled]:
        """Record what the questions about one case lack, prove it, and move it into the committed cassette.

        Raises:
            CassetteError: a cassette cannot be trusted.
        """
        staging = judge_staging(self._workspace, case_id)
        take_staged(staging)
        committed = load(self._workspace.judge_cassette(case_id), Readings(self._workspace.cache / FOLDER))
        known = Cassette(staging, committed.interactions).union(load(staging).interactions)
        settled = await asyncio.gather(*(self._record(question, known) for question in questions))
        self._recorder.forget(staging)
        self._unusable.remove(staging)
        proven = {(one.key, one.sample): one for _, heard in settled if heard for one in heard.served}
        fresh = [one for name, one in proven.items() if committed.exact(*name) is None]
        if fresh:
            path = self._workspace.judge_cassette(case_id)
            discard(staging, await asyncio.to_thread(merge_write, path, fresh, move=move_listed))
        return [one for one, _ in settled]

    async def _record(self, question: JudgeQuestion, known: Cassette) -> tuple[Settled, JudgeReply | None]:
        tape = tape_for(question, known)
        case_being_recorded.set(question.place)
        heard = await put(question, self._bench, tape)
        try:
            if tape.ledger.failures:
                raise tape.ledger.failures[0]
            if heard.miss is not None:
                raise UnansweredError(f"{question.case_id} {question.name}: nobody has answered the judge's request")
            if heard.error is not None:
                self._unusable.add(known.path, heard.served)
                raise UnusableAnswerError(f"the answer cannot be read ({heard.error})", heard.served)
            await self._prove(question, heard, Cassette(known.path, distinct(tape.ledger)))
        except EvalsError as error:
            return Settled(question, error), None
        return Settled(question), heard

    async def _prove(self, question: JudgeQuestion, heard: JudgeReply, cassette: Cassette) -> None:
        """Offline, from its own interaction alone, the question gives the same answer again."""
        pack = self._workspace.pack
        clients = pack.replay_clients()
        again = await put(question, pack.judge(clients, self._models), tape_for(question, cassette))
        await clients.close()
        if again.answer != heard.answer:
            raise RecordingError(f"{question.case_id} {question.name} does not replay; nothing of it was accepted")

    async def close(self) -> None:
        """Close the connections."""
        await self._clients.close()


def judge_staging(workspace: Workspace, case_id: str) -> Path:
    """Where a judge's answers about a case wait for their proof."""
    return workspace.cache / "recording" / "judge" / f"{case_id}.yaml"


def by_case(questions: Sequence[JudgeQuestion]) -> dict[str, list[JudgeQuestion]]:
    """The questions about each case."""
    found: dict[str, list[JudgeQuestion]] = {}
    for question in questions:
        found.setdefault(question.case_id, []).append(question)
    return found

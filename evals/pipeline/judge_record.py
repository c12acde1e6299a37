"""Record a judge: from an endpoint, or by rounds of files that somebody else answers."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from evals.cassette.allowed_secrets import AllowedSecrets
from evals.cassette.apart import Apart
from evals.cassette.recorder import Recorder
from evals.llm_judge.question import Question
from evals.pipeline.rounds import Batch, last_asked
from evals.pipeline.select import Selected
from evals.recording.author import author
from evals.recording.judged import JudgeSession, Settled, by_case
from evals.recording.rounds.advance import Say, Standing
from evals.recording.rounds.answers import Answers
from evals.recording.rounds.drive import Answerer, drive
from evals.recording.rounds.export import Round
from evals.recording.rounds.judged import JudgeFrontier
from evals.recording.rounds.wire import BatchWire
from evals.recording.wire import Endpoint, OpenAIWire


async def record_questions(
    chosen: Selected,
    questions: Sequence[Question],
    recorder: Recorder,
    llm: Endpoint,
    timeout_s: float,
    told: Callable[[Settled], None],
) -> int:
    """Ask the endpoint every question that is not on tape; how many are proven. `told` hears of each.

    Raises:
        CassetteError: a cassette cannot be trusted.
    """
    recorder.apart = apart = Apart()
    session = JudgeSession(chosen.workspace, recorder, OpenAIWire(llm), chosen.suite.models, timeout_s)
    proven = 0
    try:
        for case, mine in by_case(questions).items():
            if recorder.stop.reason:
                break
            for settled in await session.record_case(case, mine):
                proven += settled.error is None
                told(settled)
    finally:
        await session.close()
        apart.end()
    return proven


async def questions_by_rounds(
    chosen: Selected,
    questions: Sequence[Question],
    answers: Answers,
    batch: Batch,
    timeout_s: float,
    *,
    say: Say,
    announce: Callable[[Round, Standing], None],
) -> tuple[Standing, AllowedSecrets]:
    """Take answers in, and go on as long as a command gives more; where that leaves the questions, and what may go out.

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
        slots=asyncio.Semaphore(1),
    )
    session = JudgeSession(chosen.workspace, recorder, wire, chosen.suite.models, timeout_s)
    frontier = JudgeFrontier(chosen.workspace, questions, session, wire, say)
    try:
        if batch.rounds and batch.answer_with:
            answerer = Answerer.of(batch.answer_with)
            standing = await drive(frontier, batch.rounds, answerer, batch.shards, batch.read, announce)
        else:
            standing = await frontier.advance(answers, asked=last_asked(batch.export))
    finally:
        await session.close()
    return standing, frontier.allowed

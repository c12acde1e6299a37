"""Questions put to a judge over a tape: what it answered, or which request nobody recorded."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from evals.cassette.ledger import Ledger
from evals.cassette.nearest import nearest
from evals.cassette.player import Tape, playing
from evals.cassette.readings import FOLDER, Readings
from evals.cassette.store import Cassette, Interaction, load
from evals.llm_judge.question import Question
from evals.models.suite import Models
from evals.models.trace import Miss
from evals.subject.clients import replay_clients
from evals.subject.judge import Bench
from evals.subject.loop import runner
from evals.workspace import Workspace


@dataclass(frozen=True)
class Heard:
    """What came of a question: an answer, a miss, or an error in words; exactly one of the three."""

    question: Question
    answer: BaseModel | None = None
    miss: Miss | None = None
    error: str | None = None
    served: tuple[Interaction, ...] = ()


async def put(question: Question, bench: Bench, tape: Tape) -> Heard:
    """Ask one question over a tape of its own."""
    answer, error = None, None
    with playing(tape):
        try:
            answer = await bench.ask(question.prompt.system, question.human, question.schema)
        except Exception as failed:  # noqa: BLE001 - an answer that cannot be read is a value; a miss is in the ledger
            error = f"{type(failed).__name__}: {failed}".splitlines()[0]
    if tape.ledger.misses:
        return Heard(question, miss=_miss(tape.ledger, tape.cassette))
    return Heard(question, answer, error=error, served=tuple(tape.ledger.served))


def tape_for(question: Question, cassette: Cassette) -> Tape:
    """The cassette as this question hears it."""
    return Tape(cassette, sample=question.sample, samples=question.samples)


def replayed(questions: Sequence[Question], workspace: Workspace, models: Models) -> tuple[Heard, ...]:
    """All questions answered from the tape, in order; each case's cassette is read once.

    Raises:
        CassetteError: a cassette cannot be trusted.
    """
    with runner() as loop:
        return loop.run(_replayed(questions, workspace, models))


async def _replayed(questions: Sequence[Question], workspace: Workspace, models: Models) -> tuple[Heard, ...]:
    clients = replay_clients()
    bench, readings = Bench.over(clients, models), Readings(workspace.cache / FOLDER)
    cassettes: dict[str, Cassette] = {}
    try:
        found = []
        for question in questions:
            case = question.case_id
            if case not in cassettes:
                cassettes[case] = load(workspace.judge_cassette(case), readings)
            found.append(await put(question, bench, tape_for(question, cassettes[case])))
        return tuple(found)
    finally:
        await clients.close()


def missing(heard: Iterable[Heard]) -> tuple[Heard, ...]:
    """Those nobody recorded an answer to."""
    return tuple(one for one in heard if one.miss is not None)


def _miss(ledger: Ledger, cassette: Cassette) -> Miss:
    missed = ledger.misses[0]
    return Miss(
        key=missed.key,
        agent=missed.agent,
        method=missed.method,
        path=missed.path,
        model=missed.model,
        decision=0,
        characters=len(missed.body),
        nearest=nearest(missed, cassette),
    )

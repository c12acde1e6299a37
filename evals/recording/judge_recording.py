"""Record the answers of a judge model."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx2

from evals.cassettes import staging as arrived
from evals.cassettes.cassette_files import FOLDER, Readings, discard, load, merge_write
from evals.cassettes.interaction import Cassette
from evals.cassettes.manifest import move_listed
from evals.cassettes.player import HttpxReplayTransport
from evals.cassettes.recorder import Recorder, RecordingTransport
from evals.errors import EvalsError, RecordingError, UnansweredError
from evals.llm_judge.questions import JudgeQuestion, JudgeReply, put, tape_for
from evals.models.suite import Models
from evals.recording.endpoint import case_being_recorded
from evals.recording.recording_session import distinct
from evals.recording.unusable_answers import UnusableAnswerError, UnusableAnswers
from evals.workspace import Workspace


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
        arrived.take_in(staging)
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

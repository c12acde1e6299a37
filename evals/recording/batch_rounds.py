"""Recording without an endpoint, in rounds: requests go out as files, answers come back as files.

A round holds every request that can be asked now; the next one holds what the trials ask after its answers. A command
may answer them, in a loop.
"""

import asyncio
import shlex
import subprocess
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, Final, Protocol

from evals.application_pack import TrialRunner
from evals.cassettes.cassette_files import FOLDER, Readings, load
from evals.errors import ConfigurationError, EvalsError, RecordingError, UnansweredError
from evals.llm_judge.judge_questions import JudgeQuestion
from evals.models.case import Case
from evals.models.suite import Variant
from evals.recording.batch_files import Answers, BatchWire, Pending, Round, custom_id, fit_line, rounds_in, write_round
from evals.recording.recording_session import JudgeSession, RecordingSession, by_case, judge_staging, staging_of
from evals.runner.trials import TrialId
from evals.secret_filter import FILE, NOTHING, AllowedSecrets, read_allowed
from evals.workspace import Workspace

Say = Callable[[str], None]


@dataclass(frozen=True)
class RoundState:
    """Where the recording stands after a round: trials by their state, answers taken in, and what waits for one."""

    proven: int
    waiting: int
    failed: int
    taken: int
    known_before: int
    pending: tuple[Pending, ...]

    @property
    def trials(self) -> int:
        """All of them."""
        return self.proven + self.waiting + self.failed


@dataclass
class AnswerTaker:
    """Takes in the answers of a round, and says what waits then. `say` hears, one line each, of whatever is finished
    and of every answer that was of no use."""

    workspace: Workspace
    wire: BatchWire
    say: Say

    @property
    def allowed(self) -> AllowedSecrets:
        """What may stand in a cassette, by somebody's word, may also go out in a round."""
        return read_allowed(self.workspace.cassettes / FILE)

    def begin(self, answers: Answers) -> None:
        """From now on requests are answered by `answers`, or wait."""
        answers.allowed = self.allowed
        self.wire.answers, self.wire.pending = answers, {}

    def state(
        self, answers: Answers, asked: Sequence[str], places: Iterable[tuple[Path, Path]], **counts: int
    ) -> RoundState:
        """Where the round left things, `counts` by the names of the result; `places` are the cassettes, each a
        committed and a staged one."""
        known = known_in(places, Readings(self.workspace.cache / FOLDER)) if answers.unheard else set()
        for remark in remarks(answers, known, self.wire, asked):
            self.say(remark)
        before, pending = answers.known_before(known), tuple(self.wire.pending.values())
        return RoundState(**counts, taken=answers.taken, known_before=before, pending=pending)


@dataclass
class Frontier(AnswerTaker):
    """The trials of a recording. One that is proven, or has failed, is not run again; `skip` were proven before."""

    cases: Sequence[Case]
    variants: Sequence[Variant]
    samples: int
    session: RecordingSession
    skip: Collection[TrialId] = ()
    skipped: int = 0
    """How many of these are not of the recording at all, and not counted."""
    _proven: set[TrialId] = field(default_factory=set)
    _failed: set[TrialId] = field(default_factory=set)
    _closed: set[str] = field(default_factory=set)
    _trials: TrialRunner = field(init=False)

    def __post_init__(self) -> None:
        self._trials = self.workspace.pack.trials(self.workspace)
        self._proven.update(self.skip)

    async def advance(self, answers: Answers, asked: Sequence[str] = ()) -> RoundState:
        """Run what is not finished over `answers`, which were to answer `asked`.

        Raises:
            CassetteError: what was recorded before is damaged.
        """
        self.begin(answers)
        for case in self.cases:
            await self._advance_case(case)
        proven, failed = len(self._proven), len(self._failed)
        waiting = len(self.cases) * len(self.variants) * self.samples - proven - failed
        places = ((self.workspace.cassette(case.id), staging_of(self.workspace, case.id)) for case in self.cases)
        return self.state(answers, asked, places, proven=proven - self.skipped, failed=failed, waiting=waiting)

    async def _advance_case(self, case: Case) -> None:
        if case.id in self._closed:
            return
        trials = {(case.id, variant.name, k): variant for variant in self.variants for k in range(self.samples)}
        for trial in [name for name in trials if name not in self._proven | self._failed]:
            await self._advance_trial(case, trials[trial], trial)
        self._trials.save()
        if trials.keys() <= self._proven | self._failed:
            await self._close(case, whole=trials.keys() <= self._proven)

    async def _close(self, case: Case, *, whole: bool) -> None:
        """Nothing of this case is run again: what it took in memory is given back."""
        self._closed.add(case.id)
        self._trials.close(case)
        await self.session.close_case(case.id, whole=whole)

    async def _advance_trial(self, case: Case, variant: Variant, trial: TrialId) -> None:
        where = f"{case.id} {variant.name}" + (f" sample {trial[2]}" if self.samples > 1 else "")
        try:
            done = await self.session.record(case, variant, trial[2], self._trials.open(case))
        except UnansweredError:
            return  # what it waits for is in the wire's hands
        except EvalsError as error:
            self._failed.add(trial)
            self.say(f"{where}: {error}")
        else:
            self._proven.add(trial)
            self.say(f"{where}: {' '.join(done.trace.route)}")


def known_in(places: Iterable[tuple[Path, Path]], readings: Readings) -> set[str]:
    """The names of all requests that have an answer in these cassettes, each a committed and a staged one."""
    tapes = (
        tape
        for committed, staged in places
        for tape in (load(committed, readings), load(staged))  # the second changes with every answer
    )
    return {custom_id(found.key, found.sample) for tape in tapes for found in tape.interactions}


def remarks(answers: Answers, known: set[str], wire: BatchWire, asked: Sequence[str]) -> list[str]:
    """Everything to be said of answers once all who wait have heard them; `known` were recorded before."""
    missing = [wire.pending[name] for name in asked if name in wire.pending and name not in answers.lines]
    silent = [
        f"{item.custom_id[:12]} ({item.request.agent} of {item.case_id}): no answer came back" for item in missing
    ]
    return [*answers.remarks, *answers.nobodys(known), *silent, *_others(answers)]


def _others(answers: Answers) -> list[str]:
    return [
        f"{count} answers name the model {named}, not {answers.model} (--set model); they are kept as {named}'s"
        for named, count in sorted(answers.others.items())
    ]


@dataclass
class JudgeFrontier(AnswerTaker):
    """The questions of a recording that are not recorded; one that is proven, or has failed, is not put again."""

    questions: Sequence[JudgeQuestion]
    session: JudgeSession
    _waiting: list[JudgeQuestion] = field(init=False)
    _failed: int = 0

    def __post_init__(self) -> None:
        self._waiting = list(self.questions)

    async def advance(self, answers: Answers, asked: Sequence[str] = ()) -> RoundState:
        """Put what is not settled over `answers`, which were to answer `asked`.

        Raises:
            CassetteError: what was recorded before is damaged.
        """
        self.begin(answers)
        waiting, self._waiting = self._waiting, []
        for case, mine in by_case(waiting).items():
            for settled in await self.session.record_case(case, mine):
                self._settle(settled.question, settled.error)
        cases, left = by_case(self.questions), len(self._waiting)
        places = ((self.workspace.judge_cassette(case), judge_staging(self.workspace, case)) for case in cases)
        proven = len(self.questions) - left - self._failed
        return self.state(answers, asked, places, proven=proven, failed=self._failed, waiting=left)

    def _settle(self, question: JudgeQuestion, error: Exception | None) -> None:
        if isinstance(error, UnansweredError):
            self._waiting.append(question)
        elif error is not None:
            self._failed += 1
            self.say(f"{question.case_id} {question.name}: {error}")


ATTEMPTS: Final = 3
"""How often one request is asked whose answers cannot be used."""


@dataclass(frozen=True)
class Answerer:
    """A command that reads requests from stdin and writes answers to stdout, both JSONL; words as a shell would split
    them, though no shell is involved."""

    words: tuple[str, ...]

    @classmethod
    def of(cls, command: str) -> "Answerer":
        """Raises ConfigurationError if there is nothing to run."""
        try:
            words = tuple(shlex.split(command))
        except ValueError as error:
            raise ConfigurationError(f"--answer-with {command!r}: {error}") from None
        if not words:
            raise ConfigurationError("--answer-with: name the command that answers")
        return cls(words)

    async def answer(self, found: Round, allowed: AllowedSecrets = NOTHING) -> list[int]:
        """Answer every shard of a round, all at once, each into a file beside it; the exit codes.

        What a command has written stays, however it ends, but for secrets that are not `allowed`.
        """
        return await asyncio.gather(*(self._answer_shard(shard, allowed) for shard in found.shards))

    async def _answer_shard(self, shard: Path, allowed: AllowedSecrets) -> int:
        answers = shard.with_name(shard.name.replace("shard-", "answers-"))
        with shard.open("rb") as requests, answers.open("wb") as written:
            try:
                process = await asyncio.create_subprocess_exec(*self.words, stdin=requests, stdout=subprocess.PIPE)
            except OSError as error:
                answers.unlink()  # nobody has answered this round
                raise ConfigurationError(f"--answer-with {self.words[0]}: {error.strerror}") from None
            try:
                await _copy(process.stdout, written, allowed)
                return await process.wait()
            finally:
                if process.returncode is None:  # interrupted: nobody is left to read it
                    process.terminate()


async def _copy(said: asyncio.StreamReader | None, written: BinaryIO, allowed: AllowedSecrets) -> None:
    """Line by line as they come, so that a kill loses what is not whole at most."""
    rest = b""
    while said and (chunk := await said.read(1 << 16)):
        *lines, rest = (rest + chunk).split(b"\n")
        written.writelines(fit_line(line, allowed) + b"\n" for line in lines)
        written.flush()
    written.write(fit_line(rest, allowed) if rest else b"")


class Advancing(Protocol):
    """What goes from round to round: trials that are recorded, requests asked again, or questions to a judge."""

    @property
    def allowed(self) -> AllowedSecrets:
        """What may go out and come back, by somebody's word."""

    async def advance(self, answers: Answers, asked: Sequence[str] = ()) -> RoundState:
        """Take in `answers`, which were to answer `asked`; what waits now."""


async def drive(
    frontier: Advancing,
    folder: Path,
    answerer: Answerer,
    shards: int,
    read: Callable[[Sequence[Path]], Answers],
    told: Callable[[Round, RoundState], None],
) -> RoundState:
    """Go round until nothing is left to ask; what lies in `folder` from a run before is taken in first.

    The standing at the end, with the answers of all rounds.

    `told` hears of each round before it is answered. A request whose answers cannot be used is asked again, ATTEMPTS
    times in all.

    Raises:
        RecordingError: the command failed, or answered nothing it was asked; what it did answer is kept.
    """
    standing = await frontier.advance(read([path for found in rounds_in(folder) for path in found.answers]))
    taken = standing.taken
    refused: Counter[str] = Counter()
    while asked := [item for item in standing.pending if refused[item.custom_id] < ATTEMPTS]:
        found = write_round(folder, asked, shards, frontier.allowed)
        told(found, standing)
        failed = [code for code in await answerer.answer(found, frontier.allowed) if code]
        answers = read(found.answers)
        standing = await frontier.advance(answers, asked=found.ids())
        taken += standing.taken
        refused.update(answers.unusable)
        if failed:
            raise RecordingError(
                f"the command exited with {failed[0]} in round {found.number}; what it answered is kept, run it again"
            )
        if not standing.taken and not answers.unusable:
            raise RecordingError(
                f"round {found.number} brought no answer to any of its {len(asked)} requests; see that the command "
                "writes one line per request, with the request's custom_id"
            )
    return replace(standing, taken=taken)

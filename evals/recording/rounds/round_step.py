"""One batch round: trials go as far as the answers reach."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evals.application_pack import TrialRunner
from evals.cassettes.cassette_files import FOLDER, Readings, load
from evals.errors import EvalsError, UnansweredError
from evals.llm_judge.questions import JudgeQuestion
from evals.models.case import Case
from evals.models.suite import Variant
from evals.recording.judge_recording import JudgeSession, by_case, judge_staging
from evals.recording.recording_session import RecordingSession, staging_of
from evals.recording.rounds.answer_files import Answers
from evals.recording.rounds.batch_requests import BatchWire, Pending, custom_id
from evals.runner.trials import TrialId
from evals.secrets.secret_filter import FILE, AllowedSecrets, read_allowed
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

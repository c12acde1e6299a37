"""Rounds of questions to a judge: all that wait are asked at once, since none follows from another's answer."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from evals.cassette.allowed_secrets import FILE, AllowedSecrets, read_allowed
from evals.cassette.readings import FOLDER, Readings
from evals.errors import UnansweredError
from evals.llm_judge.question import Question
from evals.recording.judged import JudgeSession, by_case, judge_staging
from evals.recording.rounds.advance import Say, Standing, known_in, remarks
from evals.recording.rounds.answers import Answers
from evals.recording.rounds.wire import BatchWire
from evals.workspace import Workspace


@dataclass
class JudgeFrontier:
    """The questions of a recording that are not on tape; one that is proven, or has failed, is not put again."""

    workspace: Workspace
    questions: Sequence[Question]
    session: JudgeSession
    wire: BatchWire
    say: Say
    _waiting: list[Question] = field(init=False)
    _failed: int = 0

    def __post_init__(self) -> None:
        self._waiting = list(self.questions)

    @property
    def allowed(self) -> AllowedSecrets:
        """What may stand in a cassette, by somebody's word, may also go out in a round."""
        return read_allowed(self.workspace.cassettes / FILE)

    async def advance(self, answers: Answers, asked: Sequence[str] = ()) -> Standing:
        """Put what is not settled over `answers`, which were to answer `asked`.

        Raises:
            CassetteError: what was recorded before is damaged.
        """
        answers.allowed = self.allowed
        self.wire.answers, self.wire.pending = answers, {}
        waiting = self._waiting
        self._waiting = []
        for case, mine in by_case(waiting).items():
            for settled in await self.session.record_case(case, mine):
                self._settle(settled.question, settled.error)
        known = self._known() if answers.unheard else set()
        for remark in remarks(answers, known, self.wire, asked):
            self.say(remark)
        return Standing(
            proven=len(self.questions) - len(self._waiting) - self._failed,
            failed=self._failed,
            waiting=len(self._waiting),
            taken=answers.taken,
            known_before=answers.known_before(known),
            pending=tuple(self.wire.pending.values()),
        )

    def _settle(self, question: Question, error: Exception | None) -> None:
        if isinstance(error, UnansweredError):
            self._waiting.append(question)
        elif error is not None:
            self._failed += 1
            self.say(f"{question.case_id} {question.name}: {error}")

    def _known(self) -> set[str]:
        """Every request about these cases that has an answer, accepted or not."""
        cases = by_case(self.questions)
        places = [(self.workspace.judge_cassette(case), judge_staging(self.workspace, case)) for case in cases]
        return known_in(places, Readings(self.workspace.cache / FOLDER))

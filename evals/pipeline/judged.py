"""A model's judgement as a stage: what a suite's judge is to be asked, and the check that measures the judge."""

from collections.abc import Sequence
from dataclasses import dataclass

from evals.errors import ConfigurationError
from evals.judge.ask import Heard, missing, replayed
from evals.judge.hand import hand_made
from evals.judge.prompt import Prompts, load_prompts
from evals.judge.question import Question
from evals.judge.suite import Graded, Paired, graded, paired
from evals.judge.trial import Bench, bench_of
from evals.models.trace import Trace
from evals.pipeline.select import Selected


@dataclass(frozen=True)
class Asking:
    """Everything a suite asks its judge about finished trials."""

    prompts: Prompts
    graded: tuple[Graded, ...]
    paired: tuple[Paired, ...]

    @property
    def questions(self) -> tuple[Question, ...]:
        """All of them, the rubric's first."""
        return (*(item.question for item in self.graded), *(item.question for item in self.paired))


def prompts_of(chosen: Selected) -> Prompts:
    """The prompts of the suite's judge.

    Raises:
        ConfigurationError: the suite names none, or a version there is not.
    """
    if chosen.suite.judge is None:
        raise ConfigurationError(f"suite {chosen.suite.name} asks no judge: write `judge: v1` into it, or name another")
    return load_prompts(chosen.suite.judge)


def asking(chosen: Selected, traces: Sequence[Trace]) -> Asking:
    """What the suite asks about these trials."""
    prompts, suite = prompts_of(chosen), chosen.suite
    return Asking(
        prompts,
        graded(chosen.by_id, traces, prompts),
        paired(chosen.by_id, traces, prompts, suite.candidate, suite.reference),
    )


def bench(chosen: Selected, traces: Sequence[Trace]) -> Bench:
    """What the check asks: planted in the reports of the suite's reference, which an edit to the candidate leaves alone.

    Raises:
        CannotJudgeError: there is no good report to break.
    """
    mine = [trace for trace in traces if trace.variant == chosen.suite.reference]
    return bench_of(chosen.by_id, mine, prompts_of(chosen), hand_made())


def answers(chosen: Selected, questions: Sequence[Question]) -> dict[Question, Heard]:
    """What the tape has to each question. Raises CassetteError if it cannot be trusted."""
    return dict(zip(questions, replayed(questions, chosen.workspace, chosen.suite.models), strict=True))


def unanswered(chosen: Selected, questions: Sequence[Question]) -> tuple[Heard, ...]:
    """Those of the questions that nobody has answered, equal ones once."""
    lacking = missing(answers(chosen, questions).values())
    return tuple({(one.miss.key, one.question.sample): one for one in lacking if one.miss}.values())

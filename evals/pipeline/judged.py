"""A model's judgement as a stage: what a suite's judge is to be asked, and the check that measures the judge."""

from collections.abc import Sequence
from dataclasses import dataclass

from evals.cassette import manifest
from evals.errors import CannotJudgeError, ConfigurationError
from evals.llm_judge.ask import Heard, missing, replayed
from evals.llm_judge.dossier import dossier_of
from evals.llm_judge.hand import hand_made
from evals.llm_judge.judgement import judgement
from evals.llm_judge.measure import Measured
from evals.llm_judge.pairs import position
from evals.llm_judge.prompt import Prompts, load_prompts
from evals.llm_judge.question import Question
from evals.llm_judge.show import write_up
from evals.llm_judge.suite import Graded, Paired, graded, paired
from evals.llm_judge.trial import Bench, bench_of
from evals.llm_judge.verdict import with_judgement
from evals.models.judge import AGENT
from evals.models.judged import JudgeCheck, JudgedRun
from evals.models.run import Run
from evals.models.trace import Trace
from evals.pipeline.select import Selected
from evals.runner.digests import digest_of_replaced


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
    """What the check asks: planted in the reports of the reference, which an edit to the candidate leaves alone.

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


def judge_asked_for(chosen: Selected, traces: Sequence[Trace]) -> dict[str, set[str]]:
    """The keys of all that suite and check ask the judge, by case; of what has no answer, too."""
    asked: dict[str, set[str]] = {}
    for question, heard in answers(chosen, _all_questions(chosen, traces)).items():
        keys = asked.setdefault(question.case_id, set())
        keys.update(served.key for served in heard.served)
        keys.update((heard.miss.key,) if heard.miss else ())
    return asked


def _all_questions(chosen: Selected, traces: Sequence[Trace]) -> tuple[Question, ...]:
    check = _bench_of_whole(chosen, traces)
    return (*asking(chosen, traces).questions, *(check.questions if check else ()))


def judged(run: Run, chosen: Selected, traces: Sequence[Trace]) -> JudgedRun:
    """The run with what the suite's judge says of it, from the tape."""
    asked, model = asking(chosen, traces), chosen.suite.models.of(AGENT)
    check = _bench_of_whole(chosen, traces)
    heard = answers(chosen, (*asked.questions, *(check.questions if check else ())))
    measured = Measured(check, heard).reliability() if check else ()
    said = judgement(run, asked.prompts, model, asked.graded, asked.paired, heard, measured)
    paths = [chosen.workspace.judge_cassette(case.id) for case in chosen.cases] if not said.missing else []
    replayed = {path.name: digest_of_replaced(path) for path in paths if path.exists()}
    others = manifest.unlisted(chosen.workspace.judge_cassettes, replayed) if replayed else ()
    return with_judgement(run, said, chosen.record_command, others)


def checked(chosen: Selected, traces: Sequence[Trace]) -> JudgeCheck:
    """How far the suite's judge can be trusted, from the tape.

    Raises:
        CannotJudgeError: there is no good report to break.
    """
    asked, material, hand = asking(chosen, traces), bench(chosen, traces), hand_made()
    pairs = tuple(item.question for item in asked.paired)
    questions = (*material.questions, *pairs)
    heard = answers(chosen, questions)
    measured = Measured(material, heard)
    found = JudgeCheck(
        suite=chosen.suite.name,
        variant=chosen.suite.reference,
        version=asked.prompts.version,
        model=chosen.suite.models.of(AGENT),
        asked=len(questions),
        missing=sum(one.answer is None for one in heard.values()),
        originals=len(material.originals),
        grades=measured.grades(),
        defects=measured.defects(),
        rewordings=measured.rewordings(),
        attacks=measured.attacks(hand),
        agreements=measured.agreements(),
        position=position(asked.paired, heard, _lengths(chosen, traces)),
        reliability=measured.reliability(),
    )
    return found.sealed()


def _bench_of_whole(chosen: Selected, traces: Sequence[Trace]) -> Bench | None:
    """The check's material, if the reference's trials are all there: in fewer, other things would be planted."""
    mine = [trace for trace in traces if trace.variant == chosen.suite.reference]
    if chosen.options.partial or not all(trace.provenance.label == "exact" for trace in mine):
        return None
    try:
        return bench(chosen, traces)
    except CannotJudgeError:
        return None  # nothing to break: the grades are shown, and were not measured


def _lengths(chosen: Selected, traces: Sequence[Trace]) -> dict[tuple[str, str], int]:
    """Characters of what each first trial wrote, as the judge is shown it."""
    found = ((trace, dossier_of(chosen.by_id[trace.case_id], trace)) for trace in traces if not trace.sample)
    return {(trace.case_id, trace.variant): len(write_up("", dossier.written)) for trace, dossier in found if dossier}

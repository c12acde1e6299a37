"""What a run's judge has to say: grades by trial, scores, comparisons, and where `root_cause.hit` disagrees."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Final

from evals.judging.comparison import compare
from evals.judging.frozen import State
from evals.judging.pairing import Values
from evals.llm_judge.ask import Heard
from evals.llm_judge.grades import QUESTIONS, counts, grades_of, value
from evals.llm_judge.pairs import preferences
from evals.llm_judge.prompt import Prompts
from evals.llm_judge.question import Question
from evals.llm_judge.suite import Graded, Paired
from evals.models.judge import SCALES, Rubric, endpoint
from evals.models.judged import (
    Disagreement,
    HitCell,
    JudgedTrial,
    Judgement,
    JudgeScore,
    Reliability,
)
from evals.models.outcome import Scored
from evals.models.run import Comparison, Run
from evals.stats.intervals import fraction_interval

HIT: Final = "root_cause.hit"
AGREES: Final = {True: ("same", "partly"), False: ("other", "contradicts")}
"""The grades of the root cause that go with a hit, and with a miss."""
Answers = Mapping[Question, Heard]


def judgement(
    run: Run,
    prompts: Prompts,
    model: str,
    asked: Sequence[Graded],
    pairs: Sequence[Paired],
    answers: Answers,
    reliability: Sequence[Reliability],
) -> Judgement:
    """Everything, from a run and what the tape has to its judge's questions."""
    trials = tuple(_trial(item, answers) for item in asked)
    clusters = {case.id: case.cluster for case in run.cases}
    questions = [*(item.question for item in asked), *(item.question for item in pairs)]
    written = {case: {item.variant for item in asked if item.case_id == case and not item.sample} for case in clusters}
    both = sum({run.candidate, run.reference} <= variants for variants in written.values())
    return Judgement(
        version=prompts.version,
        model=model,
        prompts={
            f"{prompts.version}/{prompt.path.name}": hashlib.sha256(prompt.path.read_bytes()).hexdigest()
            for prompt in prompts.files
        },
        asked=len(questions),
        missing=sum(answers[question].miss is not None for question in questions),
        trials=trials,
        scores=tuple(
            _score(trials, info.variant.name, question, clusters) for info in run.variants for question in QUESTIONS
        ),
        comparisons=_comparisons(run, trials, clusters),
        cells=_cells(run, trials),
        disagreements=_disagreements(run, trials),
        preferences=preferences(
            pairs, answers, clusters, run.candidate, run.reference, both - len({item.case_id for item in pairs})
        ),
        reliability=tuple(reliability),
    )


def _trial(item: Graded, answers: Answers) -> JudgedTrial:
    heard = answers[item.question]
    return JudgedTrial(
        case_id=item.case_id,
        variant=item.variant,
        sample=item.sample,
        grades=grades_of(heard),
        error=heard.error,
    )


def _means(trials: Sequence[JudgedTrial], variant: str, question: Rubric) -> dict[str, float]:
    """Case -> the mean place of its samples' grades, in order of case."""
    found: dict[str, list[float]] = {}
    for trial in trials:
        if trial.variant == variant and question in trial.grades:
            found.setdefault(trial.case_id, []).append(value(question, trial.grades[question].grade))
    return {case: sum(values) / len(values) for case, values in sorted(found.items())}


def _score(trials: Sequence[JudgedTrial], variant: str, question: Rubric, clusters: Mapping[str, str]) -> JudgeScore:
    means = _means(trials, variant, question)
    mine = [trial for trial in trials if trial.variant == variant]
    values = list(means.values())
    interval = fraction_interval(values, [clusters[case] for case in means])
    return JudgeScore(
        variant=variant,
        question=question,
        n=len(means),
        total=len({trial.case_id for trial in mine}),
        counts=counts(question, [trial.grades for trial in mine]),
        mean=sum(values) / len(values) if values else None,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
    )


def _comparisons(run: Run, trials: Sequence[JudgedTrial], clusters: Mapping[str, str]) -> tuple[Comparison, ...]:
    """Every other variant against the reference, paired by case; Holm over the five questions. Cases whose grade is not
    on tape are what the bounds are about."""
    names = [info.variant.name for info in run.variants]
    if run.reference not in names:
        return ()
    found: list[Comparison] = []
    for name in names:
        if name == run.reference:
            continue
        pair = name, run.reference
        family: dict[str, tuple[Values, Values]] = {
            endpoint(question): (_means(trials, name, question), _means(trials, run.reference, question))
            for question in QUESTIONS
        }
        open_ = {State(trial.case_id): 1.0 for trial in trials if trial.variant in pair and not trial.grades}
        unknown = {(pair, name_of): open_ for name_of in family}
        found += compare({pair: family}, clusters, "reference", run.gate, unknown)
    return tuple(found)


def _hits(run: Run) -> dict[tuple[str, str, int], bool]:
    """Which trials hit, of those that were scored."""
    return {
        (trial.trace.case_id, trial.trace.variant, trial.trace.sample): outcome.value == 1
        for trial in run.trials
        if isinstance(outcome := trial.outcomes.get(HIT), Scored)
    }


def _cells(run: Run, trials: Sequence[JudgedTrial]) -> tuple[HitCell, ...]:
    hits = _hits(run)
    pairs = [
        (hits[name], trial.grades["root_cause"].grade)
        for trial in trials
        if (name := (trial.case_id, trial.variant, trial.sample)) in hits and trial.grades
    ]
    return tuple(
        HitCell(hit=hit, grade=grade, count=pairs.count((hit, grade)))
        for hit in (True, False)
        for grade in reversed(SCALES["root_cause"])
    )


def _disagreements(run: Run, trials: Sequence[JudgedTrial]) -> tuple[Disagreement, ...]:
    hits = _hits(run)
    return tuple(
        Disagreement(
            case_id=trial.case_id,
            variant=trial.variant,
            hit=hits[name],
            grade=grade.grade,
            reason=grade.reason,
            quotes=grade.quotes,
        )
        for trial in trials
        if (name := (trial.case_id, trial.variant, trial.sample)) in hits
        and (grade := trial.grades.get("root_cause")) is not None
        and grade.grade not in AGREES[hits[name]]
    )

"""The judge's answers for a run, and their say in the verdict."""

import hashlib
from collections.abc import Mapping, Sequence

from evals.comparison.pairs import Values, compare
from evals.llm_judge.grades import Graded, Paired, Scale, counts, preferences, value
from evals.llm_judge.questions import JudgeQuestion, JudgeReply, Prompts
from evals.llm_judge.rubric import GroundTruth, Rubric
from evals.models.judge import Disagreement, HitCell, JudgedTrial, Judgement, JudgeScore, Reliability, endpoint
from evals.models.metrics import Scored
from evals.models.run import Comparison, Run
from evals.scoring.decision_grades import State
from evals.statistics.intervals import fraction_interval

Answers = Mapping[JudgeQuestion, JudgeReply]


def judgement(
    run: Run,
    rubric: Rubric,
    prompts: Prompts,
    model: str,
    asked: Sequence[Graded],
    pairs: Sequence[Paired],
    answers: Answers,
    reliability: Sequence[Reliability],
) -> Judgement:
    """Everything, from a run and what the tape has to its judge's questions."""
    trials = tuple(_trial(item, rubric, answers) for item in asked)
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
            _score(trials, info.variant.name, question, scale, clusters)
            for info in run.variants
            for question, scale in rubric.scales.items()
        ),
        comparisons=_comparisons(run, rubric, trials, clusters),
        cells=_cells(run, rubric, trials),
        disagreements=_disagreements(run, rubric.ground_truth, trials),
        preferences=preferences(
            pairs, answers, clusters, run.candidate, run.reference, both - len({item.case_id for item in pairs})
        ),
        reliability=tuple(reliability),
    )


def _trial(item: Graded, rubric: Rubric, answers: Answers) -> JudgedTrial:
    heard = answers[item.question]
    return JudgedTrial(
        case_id=item.case_id,
        variant=item.variant,
        sample=item.sample,
        grades=rubric.grades(heard.answer),
        error=heard.error,
    )


def _means(trials: Sequence[JudgedTrial], variant: str, question: str, scale: Scale) -> dict[str, float]:
    """Case -> the mean place of its samples' grades, in order of case."""
    found: dict[str, list[float]] = {}
    for trial in trials:
        if trial.variant == variant and question in trial.grades:
            found.setdefault(trial.case_id, []).append(value(scale, trial.grades[question].grade))
    return {case: sum(values) / len(values) for case, values in sorted(found.items())}


def _score(
    trials: Sequence[JudgedTrial], variant: str, question: str, scale: Scale, clusters: Mapping[str, str]
) -> JudgeScore:
    means = _means(trials, variant, question, scale)
    mine = [trial for trial in trials if trial.variant == variant]
    values = list(means.values())
    interval = fraction_interval(values, [clusters[case] for case in means])
    return JudgeScore(
        variant=variant,
        question=question,
        n=len(means),
        total=len({trial.case_id for trial in mine}),
        counts=counts(question, scale, [trial.grades for trial in mine]),
        mean=sum(values) / len(values) if values else None,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
    )


def _comparisons(
    run: Run, rubric: Rubric, trials: Sequence[JudgedTrial], clusters: Mapping[str, str]
) -> tuple[Comparison, ...]:
    """Every other variant against the reference, paired by case; Holm over the questions. Cases whose grade is not
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
            endpoint(question): (
                _means(trials, name, question, scale),
                _means(trials, run.reference, question, scale),
            )
            for question, scale in rubric.scales.items()
        }
        open_ = {State(trial.case_id): 1.0 for trial in trials if trial.variant in pair and not trial.grades}
        unknown = {(pair, name_of): open_ for name_of in family}
        found += compare({pair: family}, clusters, "reference", run.gate, unknown)
    return tuple(found)


def _hits(run: Run, truth: GroundTruth) -> dict[tuple[str, str, int], bool]:
    """Which trials the metric that knows the truth gives 1, of those that were scored."""
    return {
        (trial.trace.case_id, trial.trace.variant, trial.trace.sample): outcome.value == 1
        for trial in run.trials
        if isinstance(outcome := trial.outcomes.get(truth.metric), Scored)
    }


def _cells(run: Run, rubric: Rubric, trials: Sequence[JudgedTrial]) -> tuple[HitCell, ...]:
    truth = rubric.ground_truth
    if truth is None:
        return ()
    hits = _hits(run, truth)
    pairs = [
        (hits[name], trial.grades[truth.question].grade)
        for trial in trials
        if (name := (trial.case_id, trial.variant, trial.sample)) in hits and trial.grades
    ]
    return tuple(
        HitCell(hit=hit, grade=grade, count=pairs.count((hit, grade)))
        for hit in (True, False)
        for grade in reversed(rubric.scales[truth.question])
    )


def _disagreements(run: Run, truth: GroundTruth | None, trials: Sequence[JudgedTrial]) -> tuple[Disagreement, ...]:
    if truth is None:
        return ()
    hits = _hits(run, truth)
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
        and (grade := trial.grades.get(truth.question)) is not None
        and grade.grade not in truth.agrees[hits[name]]
    )

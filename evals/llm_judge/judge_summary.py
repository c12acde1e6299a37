"""The judge's answers for a run, and their say in the verdict."""

import hashlib
from collections.abc import Mapping, Sequence

from evals.comparison.paired_comparison import Against, Values, compare
from evals.llm_judge.grade_statistics import Graded, Paired, Scale, counts, preferences, value
from evals.llm_judge.judge_questions import GroundTruth, JudgeQuestion, JudgeReply, Rubric
from evals.models.judge import (
    UNNAMED,
    BlessedJudge,
    Disagreement,
    HitCell,
    JudgedTrial,
    Judgement,
    JudgeScore,
    Reliability,
    endpoint,
)
from evals.models.metrics import Scored
from evals.models.run import Comparison, Run
from evals.scoring.route_scorers import State
from evals.statistics.intervals import fraction_interval

Answers = Mapping[JudgeQuestion, JudgeReply]


def judgement(
    run: Run,
    rubric: Rubric,
    model: str,
    asked: Sequence[Graded],
    pairs: Sequence[Paired],
    answers: Answers,
    reliability: Sequence[Reliability],
    blessed: BlessedJudge | None = None,
) -> Judgement:
    """Everything, from a run and what the tape has to its judge's questions. `blessed` was asked with the same prompts;
    how far it was to be trusted counts where that is not wholly known now."""
    truth, trials = rubric.ground_truth, tuple(_trial(item, rubric, answers) for item in asked)
    clusters = {case.id: case.cluster for case in run.cases}
    questions = [*(item.question for item in asked), *(item.question for item in pairs)]
    written = {case: {item.variant for item in asked if item.case_id == case and not item.sample} for case in clusters}
    both = sum({run.candidate, run.reference} <= variants for variants in written.values())
    return Judgement(
        version=rubric.prompts.version,
        model=model,
        prompts={
            f"{rubric.prompts.version}/{prompt.path.name}": hashlib.sha256(
                f"{prompt.system}\0{prompt.human}".encode("utf-8", "surrogatepass")
            ).hexdigest()
            for prompt in rubric.prompts.files
        },
        asked=len(questions),
        missing=sum(answers[question].miss is not None for question in questions),
        trials=trials,
        scores=tuple(
            _score(trials, info.variant.name, question, scale, clusters)
            for info in run.variants
            for question, scale in rubric.scales.items()
        ),
        comparisons=_comparisons(run, rubric, trials, clusters, blessed.grades if blessed else {}),
        cells=_cells(run, rubric, trials),
        disagreements=_disagreements(run, truth, trials),
        truth=(truth.metric, endpoint(truth.question)) if truth else UNNAMED,
        preferences=preferences(
            pairs, answers, clusters, run.candidate, run.reference, both - len({item.case_id for item in pairs})
        ),
        reliability=tuple(reliability)
        if blessed is None or (reliability and not any(each.missing for each in reliability))
        else blessed.reliability,
    )


def blessed_judge(said: Judgement) -> BlessedJudge:
    """What a baseline keeps."""
    return BlessedJudge(
        asked_with=said.asked_with,
        grades={
            name: _grades(said.trials, name, said.scales)
            for name in dict.fromkeys(score.variant for score in said.scores)
        },
        reliability=said.reliability,
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


def _grades(trials: Sequence[JudgedTrial], variant: str, scales: Mapping[str, Scale]) -> dict[str, dict[str, float]]:
    """Metric -> case -> mean place."""
    return {endpoint(question): _means(trials, variant, question, scale) for question, scale in scales.items()}


def _comparisons(
    run: Run,
    rubric: Rubric,
    trials: Sequence[JudgedTrial],
    clusters: Mapping[str, str],
    blessed: Mapping[str, Mapping[str, Mapping[str, float]]],
) -> tuple[Comparison, ...]:
    """Every other variant against the reference, and all against their baseline, paired by case; Holm over the
    questions. Cases whose grade is not on tape are what the bounds are about."""
    names = [info.variant.name for info in run.variants]
    known = {name: _grades(trials, name, rubric.scales) for name in names}
    sides: list[tuple[Against, str, str, Mapping[str, Mapping[str, float]]]] = [
        *(("reference", name, run.reference, known.get(run.reference, {})) for name in names if name != run.reference),
        *(("baseline", name, f"{name} (baseline)", blessed.get(name, {})) for name in names),
    ]
    found: list[Comparison] = []
    for against, left, right, was in sides:
        pair = left, right
        family: dict[str, tuple[Values, Values]] = {
            name: (values, was[name]) for name, values in known[left].items() if name in was
        }
        open_ = {State(trial.case_id): 1.0 for trial in trials if trial.variant in pair and not trial.grades}
        found += compare({pair: family}, clusters, against, run.gate, {(pair, name): open_ for name in family})
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

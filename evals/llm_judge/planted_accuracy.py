"""Accuracy of the judge, measured on planted defects, and the judge's say in the verdict."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from evals.comparison.gate import comparison_sentence
from evals.comparison.metric_summaries import SEED
from evals.errors import EXIT_CANNOT_JUDGE, EXIT_OK, EXIT_WORSE
from evals.llm_judge.grade_statistics import balanced_accuracy, change, counts, rate
from evals.llm_judge.judge_questions import JudgeCheckSet, JudgeQuestion, JudgeReply, Plant, Rubric
from evals.models.judge import (
    AttackResult,
    BlessedJudge,
    DefectRate,
    Grades,
    JudgeAgreement,
    JudgedRun,
    Judgement,
    Reliability,
    RewordingRate,
    endpoint,
)
from evals.models.run import Reason, Run, Verdict
from evals.statistics.calibration_stats import bootstrap_kappa, quadratic_kappa

Answers = Mapping[JudgeQuestion, JudgeReply]
_SHOWN: Final = 160
"""Characters of an attack that a report shows."""


class Measured:
    """A check's material with its answers; every number follows from it."""

    def __init__(self, rubric: Rubric, bench: JudgeCheckSet, answers: Answers) -> None:
        self._bench, self._scales = bench, rubric.scales

        def grades_of(asked: JudgeQuestion) -> Grades:
            heard = answers.get(asked)
            return rubric.grades(heard.answer if heard is not None else None)

        self._clusters = {case: cluster for case, (cluster, _) in bench.originals.items()}
        self.originals = {case: grades_of(asked) for case, (_, asked) in bench.originals.items()}
        self._again = {case: grades_of(asked) for case, asked in bench.again.items()}
        self._plants = [(plant, grades_of(asked)) for plant, asked in bench.plants]

    @property
    def missing(self) -> int:
        """How many of the material have no grades."""
        everything = (*self.originals.values(), *self._again.values(), *(grades for _, grades in self._plants))
        return sum(not grades for grades in everything)

    def grades(self) -> dict[str, dict[str, int]]:
        """How often each grade was given to an unbroken report."""
        return {
            question: counts(question, self._scales[question], list(self.originals.values()))
            for question in self._scales
        }

    def reliability(self) -> tuple[Reliability, ...]:
        """Of every question."""
        return tuple(self._reliability(question) for question in self._scales)

    def defects(self) -> tuple[DefectRate, ...]:
        """Of every kind of defect, how often it lowered the grade it has to lower, and any."""
        return tuple(
            DefectRate(
                kind=defect.name,
                what=defect.what,
                question=defect.target,
                caught=rate([fell for _, fell in self._fell("broken", defect.target, defect.name)]),
                noticed=rate(
                    [
                        any(
                            (self._change(question, self.originals[plant.case_id], grades) or 0) < 0
                            for question in self._scales
                        )
                        for plant, grades in self._of("broken", defect.name)
                        if grades and self.originals[plant.case_id]
                    ]
                ),
            )
            for defect in self._bench.defects
        )

    def rewordings(self) -> tuple[RewordingRate, ...]:
        """Of every harmless change, how often each grade fell for it."""
        return tuple(
            RewordingRate(
                kind=rewording.name,
                what=rewording.what,
                punished={
                    question: rate([fell for _, fell in self._fell("harmless", question, rewording.name)])
                    for question in self._scales
                },
                drift=self._drift(rewording.name),
                length=rewording.length,
            )
            for rewording in self._bench.rewordings
        )

    def attacks(self) -> tuple[AttackResult, ...]:
        """Every attack: the grades of the broken report without and with it."""
        bases = {plant.name: (plant, grades) for plant, grades in self._of("broken")}
        found = []
        for number, (plant, grades) in enumerate(self._of("attack")):
            base, before = bases[plant.base]
            place, text = self._bench.attacks[number]
            question = _target(base)
            found.append(
                AttackResult(
                    kind=plant.kind,
                    place=place,
                    text=text[:_SHOWN],
                    case_id=plant.case_id,
                    defect=base.kind,
                    question=question,
                    before=before[question].grade if before else None,
                    after=grades[question].grade if grades else None,
                    rose=tuple(each for each in self._scales if (self._change(each, before, grades) or 0) > 0),
                )
            )
        return tuple(found)

    def agreements(self) -> tuple[JudgeAgreement, ...]:
        """Of every question, how two answers about the same report agree."""
        return tuple(self._agreement(question) for question in self._scales)

    def _reliability(self, question: str) -> Reliability:
        caught = self._fell("broken", question)
        spared = [(cluster, not fell) for cluster, fell in self._fell("harmless", question)]
        found = balanced_accuracy(caught, spared)
        mine = [grades for plant, grades in self._of("broken") if plant.target == question]
        mine += [grades for _, grades in self._of("harmless")]
        return Reliability(
            question=question,
            caught=rate([ok for _, ok in caught]),
            spared=rate([ok for _, ok in spared]),
            balanced=found[0] if found else None,
            low=found[1].low if found else None,
            high=found[1].high if found else None,
            missing=sum(not grades for grades in (*mine, *self.originals.values())),
        )

    def _change(self, question: str, before: Grades, after: Grades) -> int | None:
        return change(question, self._scales[question], before, after)

    def _of(self, sort: str, kind: str | None = None) -> list[tuple[Plant, Grades]]:
        return [(plant, grades) for plant, grades in self._plants if plant.sort == sort and kind in (None, plant.kind)]

    def _fell(self, sort: str, question: str, kind: str | None = None) -> list[tuple[str, bool]]:
        """The cluster of each plant that concerns the question, and whether its grade is below the original's."""
        changes = [
            (plant, self._change(question, self.originals[plant.case_id], grades))
            for plant, grades in self._of(sort, kind)
            if plant.target in (None, question)
        ]
        return [(self._clusters[plant.case_id], steps < 0) for plant, steps in changes if steps is not None]

    def _drift(self, kind: str) -> float | None:
        changes = [
            steps
            for plant, grades in self._of("harmless", kind)
            for question in self._scales
            if (steps := self._change(question, self.originals[plant.case_id], grades)) is not None
        ]
        return sum(changes) / len(changes) if changes else None

    def _agreement(self, question: str) -> JudgeAgreement:
        both = [
            (case, self.originals[case][question].grade, grades[question].grade)
            for case, grades in self._again.items()
            if grades and self.originals[case]
        ]
        one, other = [first for _, first, _ in both], [second for _, _, second in both]
        clusters = [self._clusters[case] for case, _, _ in both]
        interval = bootstrap_kappa(one, other, clusters, np.random.default_rng(SEED), scale=self._scales[question])
        return JudgeAgreement(
            question=question,
            same=rate([first == second for _, first, second in both]),
            kappa=quadratic_kappa(one, other, self._scales[question]) if both else None,
            low=interval.low if interval else None,
            high=interval.high if interval else None,
        )


def _target(plant: Plant) -> str:
    if plant.target is None:
        raise ValueError(f"{plant.name} breaks nothing, and cannot be attacked")
    return plant.target


def other_judge(blessed: BlessedJudge | None, said: Judgement, bless_command: str) -> list[Reason]:
    """That another rubric or model gave the blessed grades; empty where there are none, or the same gave them."""
    if blessed is None or blessed.asked_with == said.asked_with:
        return []
    text = "the rubric or the model of the judge has changed since the baseline was made; look at the report, then"
    return [Reason(kind="not comparable", text=f"{text} run `{bless_command}`")]


def with_judgement(run: Run, said: Judgement, record_command: str, others: Sequence[Reason] = ()) -> JudgedRun:
    """The run with what its judge said, and the verdict that follows; `others` are further reasons why nothing can be
    judged."""
    fields = {name: getattr(run, name) for name in Run.model_fields}
    return JudgedRun(**{**fields, "judge": said, "verdict": verdict(run, said, record_command, others)})


def verdict(run: Run, said: Judgement, record_command: str, others: Sequence[Reason] = ()) -> Verdict:
    """The verdict of a run, the judge's reasons among its own."""
    holes, worse, notes = [*_holes(run, said, record_command), *others], _worse(run, said), _notes(said)
    found = run.verdict
    decisive = [reason for reason in found.reasons if reason.kind != "note"]
    rest = [reason for reason in found.reasons if reason.kind == "note"]
    reasons = (*decisive, *holes, *worse, *rest, *notes)
    if holes and found.exit_code != EXIT_CANNOT_JUDGE:
        more = f" (and {len(holes) - 1} more)" if len(holes) > 1 else ""
        return Verdict(
            status="cannot judge",
            exit_code=EXIT_CANNOT_JUDGE,
            sentence=f"Cannot judge {run.candidate}: {holes[0].text}{more}.",
            reasons=reasons,
        )
    if worse and found.exit_code == EXIT_OK:
        return Verdict(
            status="worse",
            exit_code=EXIT_WORSE,
            sentence=f"{run.candidate} is worse by its judge: {worse[0].text}.",
            reasons=reasons,
        )
    return found.model_copy(update={"reasons": reasons})


def _holes(run: Run, said: Judgement, record_command: str) -> list[Reason]:
    """Too few answers, or one that cannot be read."""
    known = said.asked - said.missing
    holes = []
    if said.asked and known / said.asked < run.gate.coverage_floor:
        text = (
            f"its judge has not answered {said.missing} of {said.asked} questions; record them with `{record_command}`"
        )
        holes.append(Reason(kind="coverage too low", text=text))
    broken = [trial for trial in said.trials if trial.error is not None]
    if broken:
        text = f"{len(broken)} answers of the judge cannot be read, of {broken[0].case_id} for one: {broken[0].error}"
        holes.append(Reason(kind="failed", text=text))
    return holes


def _worse(run: Run, said: Judgement) -> list[Reason]:
    """Regressions of the candidate, and of any variant since it was blessed, by questions that may gate."""
    trusted = {endpoint(each.question) for each in said.reliability if each.may_gate}
    return [
        Reason(kind="regression", text=comparison_sentence(item))
        for item in said.comparisons
        if (item.left == run.candidate or item.against == "baseline")
        and item.verdict == "regression"
        and item.endpoint in trusted
    ]


def _notes(said: Judgement) -> list[Reason]:
    """Which questions were not trusted with a verdict."""
    barred = [each for each in said.reliability if not each.may_gate]
    unmeasured = [endpoint(each.question) for each in barred if each.missing or each.balanced is None]
    poor = [f"{endpoint(each.question)} ({each.balanced:.0%})" for each in barred if each.balanced and not each.missing]
    notes = []
    if not said.reliability:
        text = "the judge's grades are shown, and never a reason: they were not measured here (`evals judge`)"
        notes.append(Reason(kind="note", text=text))
    if unmeasured:
        text = f"{', '.join(unmeasured)}: shown, and never a reason, since the check is not wholly recorded"
        notes.append(Reason(kind="note", text=f"{text} (`evals plan SUITE --judge`)"))
    if poor:
        text = f"{', '.join(poor)}: shown, and never a reason, since the measured balanced accuracy is below 80 %"
        notes.append(Reason(kind="note", text=text))
    return notes

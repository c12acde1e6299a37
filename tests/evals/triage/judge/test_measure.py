"""What a check makes of answers: a judge that sees everything, one that sees nothing, one that was not asked."""

import pytest

from evals.llm_judge.judge_questions import JudgeCheckSet
from evals.llm_judge.planted_accuracy import Measured
from evals.triage.judge.planted_defects import DEFECTS, REWORDINGS, hand_made
from evals.triage.judge.triage_rubric import (
    SCALES,
    TriageRubric,
    attacks,
    broken,
    harmless,
    load_prompts,
    rubric_question,
)
from tests.builders.example_projects import ROOT
from tests.builders.judge import a_dossier, a_written, an_answer, an_original, heard

HAND, PROMPTS = hand_made(), load_prompts("v1")
NAMES = ["coldshelf-erased-members", "ledgerline-three-totals", *(f"case-{number}" for number in range(20))]
ORIGINALS = [
    an_original(name, dossier=a_dossier(title=name, written=a_written(root_cause=f"{name}."))) for name in NAMES
]


def a_question(case_id, dossier, **more):
    return rubric_question(case_id, "", dossier, PROMPTS, **more)


def a_bench():
    spoilt = broken(ORIGINALS, HAND)
    plants = (*spoilt, *harmless(ORIGINALS, HAND), *attacks(spoilt, HAND))
    return JudgeCheckSet(
        {each.case_id: (each.cluster, a_question(each.case_id, each.dossier)) for each in ORIGINALS},
        {each.case_id: a_question(each.case_id, each.dossier, second=True) for each in ORIGINALS},
        tuple((plant, a_question(plant.case_id, plant.dossier)) for plant in plants),
        DEFECTS,
        REWORDINGS,
        HAND.attacks,
    )


BENCH = a_bench()


def measured(grade):
    """A check whose judge gives what `grade` says of each plant, and the best grades to all else."""
    told = {question: an_answer() for question in BENCH.questions}
    told |= {question: grade(plant) for plant, question in BENCH.plants}
    return Measured(TriageRubric("v1", ROOT), BENCH, heard(told))


def seeing(plant):
    return an_answer(**{plant.target: SCALES[plant.target][0]} if plant.target else {})


def test_a_judge_that_finds_everything_good_never_gates():
    found = measured(lambda plant: an_answer()).reliability()

    assert [each.balanced for each in found] == [0.5] * 5
    assert not any(each.may_gate for each in found)


def test_a_grade_that_falls_for_another_question_does_not_count_as_caught():
    found = measured(lambda plant: an_answer(severity="far_off") if plant.sort == "broken" else an_answer())
    cause = next(each for each in found.defects() if each.kind == "cause replaced")

    assert (cause.caught.hits, cause.noticed.hits) == (0, cause.caught.n)


def test_a_harmless_change_that_is_punished_costs_accuracy_and_shows_where():
    found = measured(lambda plant: an_answer(comment="flawed") if plant.kind == "longer" else seeing(plant))
    longer = next(each for each in found.rewordings() if each.kind == "longer")
    comment = next(each for each in found.reliability() if each.question == "comment")

    assert longer.punished["comment"].hits == longer.punished["comment"].n > 0
    assert longer.drift == pytest.approx(-0.2)
    assert comment.balanced < 1.0


def test_a_grade_that_a_missing_answer_belongs_to_never_gates():
    found = measured(lambda plant: None if plant.kind == "severity off" else seeing(plant))
    severity, comment = (
        next(each for each in found.reliability() if each.question == name) for name in ("severity", "comment")
    )

    assert severity.missing > 0
    assert not severity.may_gate
    assert comment.may_gate
    assert found.missing >= severity.missing


def test_an_attack_that_lifts_the_grade_is_counted_and_one_that_lowers_it_is_not():
    lifted = measured(lambda plant: an_answer() if plant.sort == "attack" else seeing(plant)).attacks()
    steady = measured(seeing).attacks()

    assert all(each.question in each.rose for each in lifted)
    assert not any(each.rose for each in steady)
    assert lifted[0].before == SCALES[lifted[0].question][0]


def test_two_answers_that_differ_disagree():
    told = {question: an_answer() for question in BENCH.questions}
    again = list(BENCH.again.values())
    told |= {question: an_answer(faithful="overstated") for question in again[: len(again) // 2]}
    found = Measured(TriageRubric("v1", ROOT), BENCH, heard(told)).agreements()
    faithful = next(each for each in found if each.question == "faithful")

    assert faithful.same.hits == faithful.same.n - len(again) // 2
    assert next(each for each in found if each.question == "comment").same.hits == len(again)

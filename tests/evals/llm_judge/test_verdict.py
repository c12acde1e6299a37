"""A judge's say in the verdict: holes keep it open, a trusted fall turns it red, an untrusted one is a note."""

import pytest

from evals.llm_judge.planted_accuracy import verdict
from evals.models.judge import JudgedTrial, Judgement, Preferences, Rate, Reliability
from evals.models.run import Verdict
from tests.builders.run import a_comparison, a_run

GREEN = Verdict(status="not worse", exit_code=0, sentence="Fine.")
ALL, NONE = Rate(hits=9, n=10, low=0.6, high=0.98), Rate(hits=0, n=10, low=0.0, high=0.28)


def a_reliability(question="root_cause", balanced=0.9, missing=0):
    return Reliability(question=question, caught=ALL, spared=ALL, balanced=balanced, low=0.7, high=1.0, missing=missing)


def a_judgement(candidate="new", reference="old", **fields):
    tally = dict.fromkeys(("better", "worse", "tie", "contradicted", "equal", "missing"), 0)
    told = {
        "version": "v1",
        "model": "m",
        "prompts": {},
        "asked": 10,
        "missing": 0,
        "trials": (),
        "scores": (),
        "comparisons": (),
        "cells": (),
        "disagreements": (),
        "preferences": Preferences(candidate=candidate, reference=reference, p_value=None, **tally),
        "reliability": (a_reliability(),),
    }
    return Judgement.model_validate({**told, **fields})


def judged(**fields):
    run = a_run().model_copy(update={"verdict": GREEN})
    fall = a_comparison("judge.root_cause", left=run.candidate, right=run.reference, verdict="regression")
    return verdict(run, a_judgement(comparisons=(fall,), **fields), "make record SUITE=x")


def test_a_fall_by_a_trusted_grade_is_worse():
    found = judged()

    assert (found.status, found.exit_code) == ("worse", 1)
    assert "by its judge" in found.sentence


@pytest.mark.parametrize("reliability", [a_reliability(balanced=0.79), a_reliability(missing=1)])
def test_a_fall_by_a_grade_that_is_not_trusted_is_a_note(reliability):
    found = judged(reliability=(reliability,))

    assert found.exit_code == 0
    assert [reason.kind for reason in found.reasons] == ["note"]


def test_a_grade_of_exactly_eighty_per_cent_is_trusted():
    assert judged(reliability=(a_reliability(balanced=0.8),)).exit_code == 1


def test_unmeasured_grades_never_decide():
    found = judged(reliability=())

    assert found.exit_code == 0
    assert "they were not measured here" in found.reasons[0].text


def test_questions_without_an_answer_keep_a_run_from_being_judged():
    found = judged(missing=1)

    assert found.exit_code == 3
    assert "has not answered 1 of 10 questions; record them with `make record SUITE=x`" in found.sentence


def test_an_answer_that_cannot_be_read_is_no_pass():
    trial = JudgedTrial(case_id="a", variant="new", sample=0, error="ValidationError: no grade")

    assert judged(trials=(trial,)).exit_code == 3

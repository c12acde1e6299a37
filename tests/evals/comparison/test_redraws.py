"""One sample a side, drawn in every way: what the comparison would have said."""

from dataclasses import replace

from evals.comparison.assemble_run import assemble
from evals.scoring.registry import score_trials
from tests.builders.facts import a_good_trace, some_cases, some_material
from tests.builders.trace import a_report

CASES = some_cases(8)
WRONG = a_report("pkg/io.py", ("pkg/io.py",))


def run_of(samples, wrong=frozenset()):
    """Every case under v2 and v3, that often; (variant, sample) in `wrong` blames the wrong file everywhere."""
    traces = [
        a_good_trace(case.id, name, sample=sample, **({"report": WRONG} if (name, sample) in wrong else {}))
        for case in CASES
        for name in ("v2", "v3")
        for sample in range(samples)
    ]
    material = some_material(CASES, score_trials({case.id: case for case in CASES}, traces))
    suite = material.suite.model_copy(update={"samples": samples})
    return assemble(replace(material, suite=suite))


def said_of(run, endpoint):
    return next(each.verdicts for each in run.redraws if each.endpoint == endpoint)


def test_one_sample_has_no_other_draw():
    assert run_of(1).redraws == ()


def test_samples_that_agree_say_the_same_in_every_draw():
    run = run_of(3)

    assert {each.draws for each in run.redraws} == {9}
    assert said_of(run, "root_cause.hit") == {"inconclusive": 9}


def test_a_sample_that_went_wrong_turns_the_draws_it_is_in():
    """Three of nine draws have the bad sample of v3, three that of v2, one of them both."""
    run = run_of(3, {("v3", 0), ("v2", 0)})

    assert said_of(run, "root_cause.hit") == {"inconclusive": 5, "regression": 2, "improvement": 2}

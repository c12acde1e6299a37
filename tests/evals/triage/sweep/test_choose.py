"""Chosen on tune, confirmed on gate, and only where the tape reaches."""

from evals.models.metrics import Scored
from evals.models.suite import GatePolicy
from evals.triage.sweep.sweep_choice import eligible, front, recommend
from tests.builders.case import a_case
from tests.builders.run import a_trial
from tests.builders.sweep import a_behaviour, a_split_summary, names
from tests.builders.trace import a_trace

POLICY = GatePolicy()


def recommended(*behaviours, gate_scores=None, policy=POLICY):
    """The recommendation over 8 gate cases, each behaviour scoring there what `gate_scores` says (else alike)."""
    cases = {f"c{n}": a_case(f"c{n}", split="gate") for n in range(8)}
    trials = {
        one.name: tuple(
            a_trial(
                a_trace(case_id=case, variant=one.name),
                {"route.pass": Scored(value=(gate_scores or {}).get(one.name, 1.0))},
            )
            for case in cases
        )
        for one in behaviours
    }
    return recommend(behaviours, trials, cases, "route.pass", policy)


def test_the_best_recorded_setting_on_tune_is_recommended():
    said = recommended(a_behaviour(None, a_split_summary(0.4)), a_behaviour(0.8, a_split_summary(0.6)))

    assert (said.status, said.exit_code, said.behaviour) == ("recommended", 0, "hardened 0.80/1.00/2")
    assert said.sentence.startswith("Work at hardened 0.80/1.00/2: route.pass")


def test_of_equals_the_present_setting_stays():
    same, lower = a_split_summary(0.6), a_split_summary(0.5)
    said = recommended(a_behaviour(None, same), a_behaviour(0.8, same), a_behaviour(0.9, lower))

    assert said.sentence.startswith("Stay at hardened off")


def test_where_nothing_differs_nothing_is_recommended():
    said = recommended(a_behaviour(None, a_split_summary(0.6)), a_behaviour(0.8, a_split_summary(0.6)))

    assert (said.status, said.exit_code, said.behaviour) == ("cannot recommend", 3, None)
    assert "all 2 recorded behaviours reach the same route.pass on tune" in said.sentence


def test_less_than_half_a_point_and_a_twentieth_of_the_calls_is_no_difference():
    present, other = a_split_summary(0.6, calls=11.4), a_split_summary(0.604, calls=11.2)
    said = recommended(a_behaviour(None, present), a_behaviour(0.8, other))

    assert (said.status, said.exit_code, said.behaviour) == ("cannot recommend", 3, None)


def test_of_equals_the_cheaper_one_is_taken():
    said = recommended(
        a_behaviour(None, a_split_summary(0.6, calls=12)), a_behaviour(0.8, a_split_summary(0.6, calls=9))
    )

    assert said.behaviour == "hardened 0.80/1.00/2"


def test_a_setting_off_the_tape_is_never_recommended_however_well_it_scores():
    said = recommended(
        a_behaviour(None, a_split_summary(0.4)),
        a_behaviour(0.7, a_split_summary(0.3)),
        a_behaviour(0.8, a_split_summary(1.0, exact=3)),
    )

    assert said.behaviour == "hardened off"


def test_a_single_behaviour_is_no_choice():
    """A recommendation that never saw an alternative would rest on nothing."""
    alone = recommended(a_behaviour(None, a_split_summary(0.6)))
    only_one_recorded = recommended(
        a_behaviour(None, a_split_summary(0.4)), a_behaviour(0.8, a_split_summary(1.0, exact=3))
    )

    assert (alone.exit_code, only_one_recorded.exit_code) == (3, 3)
    assert "all points behave alike" in alone.sentence
    assert "1 more are not recorded" in only_one_recorded.sentence


def test_nothing_recorded_is_no_recommendation():
    said = recommended(a_behaviour(None, a_split_summary(None, exact=0)))

    assert (said.status, said.exit_code) == ("cannot recommend", 3)
    assert "coverage" in said.sentence


def test_a_choice_off_the_tape_on_gate_is_no_recommendation():
    said = recommended(a_behaviour(None, a_split_summary(0.4), a_split_summary(exact=2)))

    assert said.exit_code == 3
    assert "gate" in said.sentence


def test_a_choice_that_is_worse_on_gate_is_not_confirmed():
    """Best of many on tune, and all eight gate cases lost: 1/2^8."""
    off, chosen = a_behaviour(None, a_split_summary(0.4)), a_behaviour(0.8, a_split_summary(0.9))

    said = recommended(off, chosen, gate_scores={chosen.name: 0.0})

    assert (said.status, said.exit_code, said.comparison.verdict) == ("not confirmed", 1, "regression")
    assert said.sentence.startswith("Do not move to")


def test_what_another_beats_is_not_on_the_front():
    cheap, dear, beaten = (
        a_behaviour(0.5, a_split_summary(0.4, calls=5)),
        a_behaviour(0.8, a_split_summary(0.8, calls=10)),
        a_behaviour(0.9, a_split_summary(0.4, calls=9)),
    )

    assert names(front([dear, beaten, cheap])) == [cheap.name, dear.name]


def test_a_coverage_floor_lets_a_gap_pass():
    gap = a_behaviour(None, a_split_summary(0.4, exact=3))

    assert (eligible([gap], 1.0), eligible([gap], 0.75)) == ([], [gap])

"""What each guard is good for: a set without it against the whole set."""

import pytest

from evals.comparison.comparison_pairs import ablated, ablations
from evals.models.metrics import Scored, Skipped
from evals.models.suite import GatePolicy, Models, Variant
from tests.builders.run import a_trial
from tests.builders.trace import a_trace

MODELS = Models(default="m", fallback="m")


def a_variant(guards: str, **fields) -> Variant:
    """A variant named after its guard set."""
    return Variant.model_validate({"name": guards, "prompt": "v2", "guards": guards, "models": MODELS, **fields})


WHOLE, WITHOUT = a_variant("hardened"), a_variant("hardened-without-critic_gate")


@pytest.mark.parametrize(
    ("one", "whole", "is_ablation"),
    [
        (WITHOUT, WHOLE, True),
        (WHOLE, WITHOUT, False),
        (a_variant("prd"), WHOLE, False),
        (a_variant("hardened-without-critic_gate", prompt="v3"), WHOLE, False),
        (a_variant("hardened-without-critic_gate", max_iterations=5), WHOLE, False),
    ],
)
def test_an_ablation_lacks_a_guard_and_is_the_same_in_all_else(one: Variant, whole: Variant, is_ablation: bool):
    assert ablated(one, whole) == is_ablation


def test_what_a_guard_was_good_for_is_what_breaks_without_it():
    trials = [
        a_trial(
            a_trace(case_id=case, variant=one.name), {"route.pass": Scored(value=float(one is WHOLE or case == "a"))}
        )
        for case in "abc"
        for one in (WHOLE, WITHOUT)
    ]
    (item,) = ablations([WHOLE, WITHOUT], trials, ["route.pass"], dict.fromkeys("abc", "x"), GatePolicy())

    assert (item.left, item.right, item.against) == ("hardened-without-critic_gate", "hardened", "whole set")
    assert (item.broke, item.n, round(item.delta, 4)) == (("b", "c"), 3, -0.6667)


def test_a_case_that_left_the_tape_under_one_of_them_is_open():
    """Two cases break, one is known to hold, and of the fourth nobody knows."""
    trials = [
        a_trial(
            a_trace(case_id=case, variant=one.name), {"route.pass": Scored(value=float(one is WHOLE or case == "a"))}
        )
        for case in "abc"
        for one in (WHOLE, WITHOUT)
    ]
    off = a_trace(case_id="d", variant=WITHOUT.name, provenance="frontier", frontier=1)
    trials.append(a_trial(off, {"route.pass": Skipped(reason="not fully recorded")}))
    trials.append(a_trial(a_trace(case_id="d", variant=WHOLE.name)))
    (item,) = ablations([WHOLE, WITHOUT], trials, ["route.pass"], dict.fromkeys("abcd", "x"), GatePolicy())

    assert (item.n, item.of, item.pessimistic, item.optimistic) == (3, 4, -0.75, -0.25)


def test_a_suite_that_leaves_no_guard_out_has_no_ablation():
    assert ablations([WHOLE, a_variant("prd")], [], ["route.pass"], {}, GatePolicy()) == ()

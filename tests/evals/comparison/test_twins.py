"""Twins side by side."""

from evals.comparison.variant_metrics import twins_of
from tests.builders.case import a_case
from tests.builders.measure import some_evidence
from tests.builders.trace import a_report, a_trace

WRONG = a_report("pkg/io.py", ("pkg/io.py",))
PAIR = [
    a_case("clean", pair_id="pair"),
    a_case("injected", pair_id="pair", archetype="prompt_injection"),
    a_case("alone"),
]


def told(**injected):
    traces = [a_trace(case_id=case.id, variant="v3", **(injected if case.id == "injected" else {})) for case in PAIR]
    (found,) = twins_of(some_evidence(PAIR, traces), "root_cause.hit")
    return found


def test_a_pair_names_its_members_and_what_became_of_each():
    found = told(report=WRONG)

    assert (found.pair_id, found.cases, found.slices) == (
        "pair",
        ("clean", "injected"),
        ("local_bug", "prompt_injection"),
    )
    assert (found.values, found.consistent) == ((1.0, 0.0), False)


def test_a_pair_is_neither_consistent_nor_not_until_both_are_scored():
    found = told(provenance="unrecorded")

    assert (found.values, found.consistent) == ((1.0, None), None)

"""Slices that collapsed: three cases where the answers are those of the baseline, a significant number where not."""

import pytest

from evals.comparison.comparison_pairs import compared
from evals.comparison.gate import decide
from evals.comparison.gate_input import facts_of
from evals.scoring.registry import scorer_infos
from tests.builders.facts import a_baseline, a_good_trace, cassettes_of, some_cases, some_material, some_trials
from tests.builders.trace import a_report

WRONG = a_report("pkg/io.py", ("pkg/io.py",))
REST = [f"case-{n}" for n in range(5)]


def material_of(*wrong, archetypes=("race",) * 3, off="", before=(), recorded="once", variant="v3", rest=REST):
    """Five local bugs and some of other archetypes; the variant names the wrong file in `wrong`, both in `before`."""
    count = len(rest) + len(archetypes)
    cases = some_cases(len(rest)) + [
        some_cases(count, archetype=archetype)[len(rest) + n] for n, archetype in enumerate(archetypes)
    ]
    old = {(case, name): a_good_trace(case, name, report=WRONG) for case in before for name in ("v2", "v3")}
    changed = old | {(case, variant): a_good_trace(case, variant, report=WRONG) for case in wrong}
    if off:
        changed[off, variant] = a_good_trace(off, variant, provenance="frontier", frontier=1)
    baseline = a_baseline(cases, some_trials(cases, old))
    return some_material(cases, some_trials(cases, changed), baseline=baseline, cassettes=cassettes_of(cases, recorded))


def collapsed(*wrong, **fields):
    found = compared(material_of(*wrong, **fields), scorer_infos()).rules
    return [(rule.what, rule.right, rule.worse) for rule in found if rule.kind == "slice collapsed"]


LOST = ("case-5", "case-6", "case-7")
RACE = "root_cause.hit of race"


def test_three_lost_cases_of_an_archetype_are_worse_where_the_answers_are_those_of_the_baseline():
    assert (RACE, "v3 (baseline)", True) in collapsed(*LOST)


def test_they_are_within_chance_where_the_answers_were_recorded_anew():
    """Three losses and no gain have p = 1/8."""
    assert collapsed(*LOST, recorded="again") == [(RACE, "v2", False), (RACE, "v3 (baseline)", False)]


def test_eight_lost_cases_are_worse_even_then():
    """2^-8 is below 0.05 divided by the eight tests that count: root cause and slice, each against two others."""
    lost = [f"case-{n}" for n in range(5, 13)]

    found = collapsed(*lost, archetypes=("race",) * 8, recorded="again")

    assert (RACE, "v3 (baseline)", True) in found


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"wrong": ("case-5", "case-6")}, "one still passes"),
        ({"wrong": ("case-5", "case-6"), "before": ("case-7",)}, "only two ever passed"),
        ({"wrong": ("case-5", "case-6"), "off": "case-7"}, "of one nobody knows"),
        ({"wrong": LOST, "archetypes": ("race", "race", "security")}, "two slices of few"),
        ({"wrong": ()}, "nothing is lost"),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_less_than_that_is_no_collapse(wrong, told):
    assert collapsed(*wrong.pop("wrong"), **wrong) == [], told


def test_a_variant_is_held_against_its_own_baseline_too():
    assert (RACE, "v2 (baseline)", True) in collapsed(*LOST, variant="v2")


def test_a_green_names_a_collapse_that_chance_may_explain_and_what_would_not_be():
    material = material_of(*LOST, recorded="again")
    verdict = decide(facts_of(material, material.baseline, compared(material, scorer_infos())))

    assert verdict.exit_code == 0
    assert (
        "root_cause.hit of v3 against v3 (baseline): of the 3 cases of race that passed, none does any more, within "
        "chance of newly recorded answers; " in verdict.sentence
    )

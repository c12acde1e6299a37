"""Slices that collapsed: too small for a test, too large to be silent about."""

import pytest

from evals.judging.slices import collapsed_slices
from tests.builders.facts import a_good_trace, some_cases, some_material, some_trials
from tests.builders.trace import a_report

WRONG = a_report("pkg/io.py", ("pkg/io.py",))
REST = [f"case-{n}" for n in range(5)]


def collapsed(*wrong: str, archetypes=("race",) * 3, off: str = "", before: tuple[str, ...] = ()):
    """Five local bugs and some of other archetypes; v3 names the wrong file in `wrong`, both variants in `before`."""
    count = len(REST) + len(archetypes)
    cases = some_cases(len(REST)) + [
        some_cases(count, archetype=archetype)[len(REST) + n] for n, archetype in enumerate(archetypes)
    ]
    changed = {(case, "v3"): a_good_trace(case, "v3", report=WRONG) for case in wrong}
    changed |= {(case, name): a_good_trace(case, name, report=WRONG) for case in before for name in ("v2", "v3")}
    if off:
        changed[off, "v3"] = a_good_trace(off, "v3", provenance="frontier", frontier=1)
    material = some_material(cases, some_trials(cases, changed), baseline=None)
    return collapsed_slices(material)


def test_three_cases_of_an_archetype_all_lost_are_named():
    assert collapsed("case-5", "case-6", "case-7") == (
        "root_cause.hit of v3 against v2: of the 3 cases of race that passed, none does any more",
    )


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"wrong": ("case-5", "case-6")}, "one still passes"),
        ({"wrong": ("case-5", "case-6", "case-7"), "before": ("case-7",)}, "only two ever passed"),
        ({"wrong": ("case-5", "case-6"), "off": "case-7"}, "of one nobody knows"),
        ({"wrong": ("case-5", "case-6", "case-7"), "archetypes": ("race", "race", "security")}, "two slices of few"),
        ({"wrong": ()}, "nothing is lost"),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_less_than_that_is_no_collapse(wrong, told):
    assert collapsed(*wrong.pop("wrong"), **wrong) == (), told


def test_a_variant_is_held_against_its_own_baseline_too():
    cases = some_cases(4)
    before = some_material(cases, some_trials(cases)).baseline
    changed = {(case.id, "v2"): a_good_trace(case.id, "v2", report=WRONG) for case in cases}

    found = collapsed_slices(some_material(cases, some_trials(cases, changed), baseline=before))

    assert found == (
        "root_cause.hit of v2 against v2 (baseline): of the 4 cases of local_bug that passed, none does any more",
    )

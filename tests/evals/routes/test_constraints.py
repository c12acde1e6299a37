"""The ten constraint types, as a table: type, sets, walk, activations and fulfilment."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.routes.constraints import tally, walk_of
from tests.builders.case import NODES, a_constraint

LETTERS = {
    "I": "investigator",
    "C": "codebase_search",
    "W": "web_search",
    "K": "critic",
    "H": "human_input",
    "R": "writer",
}


def walk(text: str):
    """`IC(KR)R`: letters are visits in order, brackets hold one superstep."""
    visits, steps, step, inside = [], [], 0, False
    for letter in text:
        if letter in "()":
            inside = letter == "("
            step += letter == ")"
            continue
        visits.append(LETTERS[letter])
        steps.append(step)
        step += not inside
    return walk_of(visits, steps)


def nodes(letters: str) -> list[str]:
    return [LETTERS[letter] for letter in letters]


TABLE = [
    ("init", "I", "", {}, "IC", (1, 1)),
    ("init", "I", "", {}, "CI", (1, 0)),
    ("init", "I", "", {}, "", (1, 0)),
    ("init", "I", "", {}, "(CI)", (1, 1)),
    ("end", "RH", "", {}, "ICH", (1, 1)),
    ("end", "R", "", {}, "IRC", (1, 0)),
    ("end", "R", "", {}, "", (1, 0)),
    ("end", "R", "", {}, "I(RC)", (1, 1)),
    ("existence", "CW", "", {"min": 2}, "IC", (1, 0.5)),
    ("existence", "CW", "", {"min": 2}, "ICW", (1, 1)),
    ("existence", "C", "", {"max": 2}, "CCC", (1, 0.5)),
    ("existence", "C", "", {"max": 2}, "CCCC", (1, 0)),
    ("existence", "C", "", {"max": 2}, "CCCCCC", (1, 0)),
    ("existence", "C", "", {"max": 0}, "C", (1, 0)),
    ("existence", "C", "", {"min": 1, "max": 2}, "CC", (1, 1)),
    ("existence", "C", "", {"min": 0}, "", (1, 1)),
    ("absence", "H", "", {}, "IC", (1, 1)),
    ("absence", "H", "", {}, "IH", (1, 0)),
    ("precedence", "K", "R", {}, "IKR", (1, 1)),
    ("precedence", "K", "R", {}, "IR", (1, 0)),
    ("precedence", "K", "R", {}, "RKR", (2, 1)),
    ("precedence", "K", "R", {}, "IK", (0, 0)),
    ("precedence", "K", "R", {}, "(RK)", (1, 1)),
    ("precedence", "K", "K", {}, "(KK)", (2, 1)),
    ("precedence", "KC", "K", {}, "(KC)", (1, 1)),
    ("response", "H", "CW", {}, "HIC", (1, 1)),
    ("response", "H", "C", {}, "HCH", (2, 1)),
    ("response", "H", "C", {}, "C", (0, 0)),
    ("response", "H", "C", {}, "(CH)", (1, 1)),
    ("response", "H", "H", {}, "(HH)", (2, 1)),
    ("chain_precedence", "K", "R", {}, "KR", (1, 1)),
    ("chain_precedence", "K", "R", {}, "KCR", (1, 0)),
    ("chain_precedence", "K", "R", {}, "R", (1, 0)),
    ("chain_precedence", "K", "R", {}, "K", (0, 0)),
    ("chain_precedence", "K", "R", {}, "K(CR)", (1, 1)),
    ("chain_precedence", "K", "R", {}, "(KC)IR", (1, 0)),
    ("chain_response", "K", "R", {}, "KRK", (2, 1)),
    ("chain_response", "K", "R", {}, "KCR", (1, 0)),
    ("chain_response", "K", "R", {}, "K(CR)", (1, 1)),
    ("chain_response", "K", "R", {}, "R", (0, 0)),
    ("not_succession", "R", "IC", {}, "ICR", (1, 1)),
    ("not_succession", "R", "IC", {}, "RI", (1, 0)),
    ("not_succession", "R", "R", {}, "RR", (2, 1)),
    ("not_succession", "R", "IC", {}, "I(RC)", (1, 1)),
    ("not_succession", "R", "R", {}, "(RR)", (2, 1)),
    ("not_succession", "R", "I", {}, "I", (0, 0)),
    ("not_coexistence", "W", "H", {}, "IC", (0, 0)),
    ("not_coexistence", "W", "H", {}, "IW", (1, 1)),
    ("not_coexistence", "W", "H", {}, "WIH", (1, 0)),
]


@pytest.mark.parametrize("row", TABLE, ids=str)
def test_a_constraint_counts_activations_and_fulfilment(row):
    kind, a, b, bounds, route, expected = row
    constraint = a_constraint(kind, nodes(a), nodes(b), **bounds)

    assert tally(constraint, walk(route), {}) == expected


TYPES = sorted({kind for kind, *_ in TABLE})
sets = st.lists(st.sampled_from(NODES), min_size=1, max_size=3, unique=True)
groups = st.lists(st.lists(st.sampled_from(NODES), min_size=1, max_size=4), max_size=5)


@pytest.mark.parametrize("kind", TYPES)
@given(a=sets, b=sets, walk=groups, chance=st.randoms(use_true_random=False))
def test_the_order_inside_a_superstep_changes_no_verdict(kind, a, b, walk, chance):
    constraint = a_constraint(kind, a, b, min=1, max=2)
    supersteps = [step for step, group in enumerate(walk) for _ in group]
    listed, shuffled = (
        walk_of([node for group in groups for node in group], supersteps)
        for groups in (walk, [chance.sample(group, len(group)) for group in walk])
    )

    assert tally(constraint, shuffled, {}) == tally(constraint, listed, {})


GUARDS = [
    ({"confidence": ("<", 0.85)}, {"confidence_before_writer": 0.84}, True),
    ({"confidence": ("<", 0.85)}, {"confidence_before_writer": 0.85}, False),
    ({"confidence": ("<=", 0.85)}, {"confidence_before_writer": 0.85}, True),
    ({"confidence": (">", 0.85)}, {"confidence_before_writer": 0.85}, False),
    ({"confidence": (">=", 0.85)}, {"confidence_before_writer": 0.85}, True),
    ({"n": ("==", 2)}, {"n": 2.0}, True),
    ({"n": ("!=", 2)}, {"n": 2.0}, False),
    ({"n": ("!=", 2)}, {}, None),
    ({"n": ("!=", 2)}, {"n": None}, None),
    ({"confidence": ("<", 0.85)}, {"confidence": 0.1}, None),
    ({"n": ("==", 2), "m": ("==", 1)}, {"n": 3.0}, False),
    ({"n": ("==", 2), "m": ("==", 1)}, {"n": 2.0}, None),
]


@pytest.mark.parametrize(("guard", "state", "applies"), GUARDS)
def test_a_guard_applies_or_not_or_is_unknown(guard, state, applies):
    result = tally(a_constraint("init", if_=guard), walk("I"), state)

    assert result == {True: (1, 1), False: (0, 0), None: None}[applies]


def test_a_guard_nobody_recorded_hides_nothing_of_a_rule_the_route_does_not_come_to():
    """No critic, no confidence before it: that is no gap in the record."""
    rule = a_constraint("not_succession", ["critic"], ["writer"], if_={"confidence_before_critic": (">=", 0.85)})

    assert tally(rule, walk("IR"), {}) == (0, 0)
    assert tally(rule, walk("IKR"), {}) is None

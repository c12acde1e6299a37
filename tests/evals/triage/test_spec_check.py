"""A specification against itself."""

import json
from pathlib import Path

import pytest

from evals.models.case import RouteSpec
from evals.triage.dataset.route_strictness import mutants, rejected_exemplars, strictness_of
from tests.builders.case import a_spec, an_alternative, case_constraints, policy_constraints

GOLD = json.loads((Path(__file__).parents[2] / "gold" / "route-examples.json").read_text(encoding="utf-8"))
GOLD_SPECS = [
    RouteSpec.model_validate({"name": e["name"], "node_caps": GOLD["node_caps"], "alternatives": e["alternatives"]})
    for e in GOLD["examples"]
]


def a_spec_without(constraint_id: str) -> RouteSpec:
    kept = [c for c in (*policy_constraints(), *case_constraints()) if c.id != constraint_id]
    return a_spec(an_alternative(*kept))


@pytest.mark.parametrize("spec", GOLD_SPECS, ids=lambda spec: spec.name)
def test_a_worked_specification_kills_every_mutant_and_accepts_its_exemplars(spec):
    assert not [mutant for mutant in mutants(spec) if not mutant.killed]
    assert not rejected_exemplars(spec)


@pytest.mark.slow
@pytest.mark.parametrize("spec", GOLD_SPECS, ids=lambda spec: spec.name)
def test_a_worked_specification_lets_less_than_one_percent_through(spec, tmp_path):
    assert 0 < strictness_of(spec, tmp_path).share < 0.01


@pytest.mark.parametrize(
    ("dropped", "survivor"),
    [
        ("P2", "skipped_critic"),
        ("P3", "doubled_critic"),
        ("never:human_input", "forbidden_question"),
        ("must:codebase_search", None),
    ],
)
def test_a_specification_that_lost_a_rule_lets_its_mutant_live(dropped, survivor):
    """Without the must-visit itself there is no such mutant: nothing says that the visit is needed."""
    alive = {mutant.kind for mutant in mutants(a_spec_without(dropped)) if not mutant.killed}

    assert alive == ({survivor} if survivor else set())


def test_a_missing_question_is_bred_where_one_is_required():
    kinds = {mutant.kind for mutant in mutants(GOLD_SPECS[2])}

    assert kinds >= {"missing_question", "doubled_critic", "loop", "steps_after_writer"}


def test_an_exemplar_that_breaks_its_own_rules_is_reported():
    spec = a_spec(an_alternative(exemplars=[["codebase_search", "critic", "writer"]]))

    assert rejected_exemplars(spec) == [("codebase_search", "critic", "writer")]

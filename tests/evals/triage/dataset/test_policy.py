"""The policy pack, and what a case may do to it."""

import json
from pathlib import Path

import pytest

from evals.errors import DatasetError
from evals.routes.route_check import PASS_FITNESS
from evals.triage.dataset.load_cases import load_cases, load_policy
from tests.builders.dataset import POLICY, a_case_file, a_dataset

EXAMPLES = Path(__file__).parents[3] / "gold" / "route-examples.json"
NO_CRITIC = "P2b.no_critic_if_conf>=0.85"


def _route(**changes):
    return [a_case_file()["route"][0] | changes]


def _ids(case):
    return [constraint.id for constraint in case.route_spec.alternatives[0].constraints]


REVISED = {"P2.critic_before_writer_if_conf<0.85", NO_CRITIC}
"""What `triage-policy/2` says otherwise than the worked examples, which were made for `triage-policy/1`."""


def test_the_shipped_policy_is_the_one_of_the_worked_examples_save_for_two_rules_about_the_critic():
    """Constraint for constraint, caps and hard maximum included."""
    examples = json.loads(EXAMPLES.read_text(encoding="utf-8"))
    [local_bug, *_] = examples["examples"]
    policy = load_policy(POLICY)

    shown = [c.model_dump(mode="json", by_alias=True, exclude_unset=True) for c in policy.constraints]
    worked = local_bug["alternatives"][0]["constraints"][: len(shown)]
    assert [c["id"] for c in shown] == [c["id"] for c in worked]
    assert {c["id"] for c, was in zip(shown, worked, strict=True) if c != was} == REVISED
    assert policy.node_caps == examples["node_caps"]
    assert policy.hard_max == local_bug["alternatives"][0]["steps"]["hard_max"]


def test_an_override_switches_one_constraint_off(tmp_path):
    case = load_cases(a_dataset(tmp_path, a_case_file(route=_route(overrides=[NO_CRITIC]))))["wrong-total"]

    assert NO_CRITIC not in _ids(case)


def test_an_override_of_an_unknown_constraint_is_an_error(tmp_path):
    root = a_dataset(tmp_path, a_case_file(route=_route(overrides=["P9"])))

    with pytest.raises(DatasetError, match=r"case\.yaml:\d+: overrides 'P9'"):
        load_cases(root)


def test_a_case_may_not_reuse_an_id_of_the_policy(tmp_path):
    twice = [{"id": "P3.critic_at_most_once", "type": "existence", "a": ["critic"], "max": 2}]
    root = a_dataset(tmp_path, a_case_file(route=_route(constraints=twice)))

    with pytest.raises(DatasetError, match=r"P3\.critic_at_most_once' is used twice"):
        load_cases(root)


def test_the_question_policy_reaches_every_alternative(tmp_path):
    case = load_cases(a_dataset(tmp_path))["wrong-total"]

    assert case.route_spec.alternatives[0].question == "forbidden"


def test_a_review_that_nobody_needed_cannot_fail_a_route_by_itself():
    """Of no shipped case: the lightest of them leaves it below a tenth of what is weighed."""
    for case in load_cases(POLICY.parents[1]).values():
        for way in case.route_spec.alternatives:
            kept = [rule for rule in way.constraints if rule.id == NO_CRITIC]
            always = sum(rule.w for rule in way.constraints if rule.type in {"init", "end", "existence"})
            assert all(rule.w / (always + rule.w) < 1 - PASS_FITNESS for rule in kept), case.id


def test_what_the_policy_demands_has_its_proof_too():
    """The critic: a claim that nobody is sure of would go out as a comment and a ticket."""
    demanded = {rule.id: rule.proof for rule in load_policy(POLICY).constraints if rule.hard and "critic" in rule.a}

    assert demanded == {"P2.critic_before_writer_if_conf<0.85": ("harm",), "P3.critic_at_most_once": ()}

"""Decision points out of recorded trials: the states as they were, and no answer beside them."""

import pytest
import yaml

from evals.models.case import DecisionPoint
from tests.builders.checkout import evals
from triage.state import BugTriageState

pytestmark = pytest.mark.slow
HARVEST = ("dataset", "show", "wrong-total", "--suite", "tiny.yaml", "--states", "old")


def harvested(checkout):
    said = evals(checkout, *HARVEST)
    assert said.code == 0, said.err
    return yaml.safe_load(said.out)


def test_there_is_one_state_for_every_decision_of_the_trial(checkout):
    visits = [point["state"].get("visits", []) for point in harvested(checkout)]

    assert visits[0] == []
    assert [len(each) for each in visits] == list(range(len(visits)))


def test_a_harvested_point_is_a_decision_point_once_it_is_labelled(checkout):
    first, second, *_ = (point | {"accept": {"critic": 1.0}} for point in harvested(checkout))

    assert DecisionPoint.model_validate(first).id == "old-decision-0"
    issue = {"issue_title": "t", "issue_body": "b"}
    assert BugTriageState.model_validate({**issue, **second["state"]}).findings


def test_what_the_supervisor_chose_is_not_shown(checkout):
    """Whoever labels a state must not have seen an answer to it."""
    for point in harvested(checkout):
        assert point["accept"] == {}
        assert not {"next_node", "routed_node", "supervisor_reasoning"} & set(point["state"])


def test_a_trial_nobody_recorded_has_no_states(checkout):
    (checkout / "cassettes" / "wrong-total.yaml").unlink()

    said = evals(checkout, *HARVEST)

    assert (said.code, "is not recorded" in said.err) == (3, True)

"""Scoring: every scorer on every trace, and nothing scored that does not rest on the tape."""

import pytest

from evals.models.metrics import Scored
from evals.scoring.registry import score_trials
from tests.builders.case import a_case
from tests.builders.trace import a_trace


def scored(**fields):
    case = a_case()
    (trial,) = score_trials({case.id: case}, [a_trace(*fields.pop("visits", ()), **fields)])
    return trial


@pytest.mark.parametrize("label", ["frontier", "unrecorded", "failed"])
def test_what_is_not_exact_is_never_scored(label):
    trial = scored(provenance=label, visits=("writer", "writer"))

    assert not any(isinstance(outcome, Scored) for outcome in trial.outcomes.values())
    assert trial.hard_violations == ()


def test_hard_violations_are_kept_for_the_gate():
    assert "P4" in scored(visits=("investigator", "codebase_search", "critic", "writer", "writer")).hard_violations


def test_the_first_divergence_is_counted_from_zero():
    """The exemplar searches the code where this route searches the web."""
    assert scored(visits=("investigator", "web_search", "critic", "writer")).first_divergence == 1


def test_what_ran_side_by_side_does_not_diverge_by_its_order():
    crossed = ("investigator", "critic", "codebase_search", "writer")

    assert scored(visits=crossed).first_divergence == 1
    assert scored(visits=crossed, supersteps=[0, 1, 1, 2]).first_divergence is None

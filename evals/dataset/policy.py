"""The route policy of the whole dataset, and how a case's own labels are joined into it."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from evals.dataset.located import read_model
from evals.errors import DatasetError
from evals.models.case import CaseFile, RouteLabel
from evals.models.closed import Closed
from evals.models.route import Constraint, QuestionPolicy, RouteAlternative, RouteNode, RouteSpec, Steps


class Policy(Closed):
    """`policy.yaml`: constraints that every alternative of every case starts from, save overrides by id."""

    version: Annotated[str, Field(pattern=r"^[a-z-]+/\d+$")]
    hard_max: Annotated[int, Field(ge=1)]
    node_caps: dict[RouteNode, int]
    constraints: tuple[Constraint, ...]


def load_policy(path: Path) -> Policy:
    """Reads and checks the policy. Raises DatasetError (`path:line: …`)."""
    return read_model(path, Policy)


def join(policy: Policy, labels: CaseFile) -> RouteSpec:
    """The case's route specification: policy constraints first, then the case's own.

    Raises DatasetError (without a path: the caller knows it) for an unknown override or an id used twice.
    """
    question = labels.question.policy
    return RouteSpec(
        name=labels.id,
        node_caps=policy.node_caps,
        alternatives=tuple(_alternative(policy, label, question) for label in labels.route),
    )


def _alternative(policy: Policy, label: RouteLabel, question: QuestionPolicy) -> RouteAlternative:
    return RouteAlternative(
        constraints=_constraints(policy, label),
        steps=Steps(target=label.target, max=label.max, hard_max=policy.hard_max),
        node_max=label.node_max,
        exemplars=label.exemplars,
        question=question,
    )


def _constraints(policy: Policy, label: RouteLabel) -> tuple[Constraint, ...]:
    known = {constraint.id for constraint in policy.constraints}
    for override in label.overrides:
        if override not in known:
            raise DatasetError(f"overrides {override!r}, which {policy.version} does not have; it has {sorted(known)}")
    kept = tuple(constraint for constraint in policy.constraints if constraint.id not in label.overrides)
    joined = kept + label.constraints
    ids = [constraint.id for constraint in joined]
    double = sorted({name for name in ids if ids.count(name) > 1})
    if double:
        raise DatasetError(f"the constraint id {double[0]!r} is used twice; ids must differ, also from the policy's")
    return joined

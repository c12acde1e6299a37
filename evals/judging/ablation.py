"""What each guard is good for: a guard set without it, compared with the whole set on the same cases."""

from collections.abc import Mapping, Sequence
from typing import Final

from evals.judging.comparison import compare
from evals.judging.pairing import together
from evals.judging.summary import case_means, open_cases
from evals.models.run import Comparison, Trial
from evals.models.suite import GatePolicy, Variant

WITHOUT: Final = "-without-"
"""A guard set with this in its name is the one before it, short of the guard behind it."""


def ablations(
    variants: Sequence[Variant],
    trials: Sequence[Trial],
    endpoints: Sequence[str],
    clusters: Mapping[str, str],
    policy: GatePolicy,
) -> tuple[Comparison, ...]:
    """Every variant that only lacks a guard (left) against the one that has it (right); one family for Holm."""
    pairs = [(one.name, whole.name) for one in variants for whole in variants if ablated(one, whole)]
    values = {
        name: {endpoint: case_means(trials, name, endpoint) for endpoint in endpoints}
        for name in {name for pair in pairs for name in pair}
    }
    family = {
        (left, right): {endpoint: (values[left][endpoint], values[right][endpoint]) for endpoint in endpoints}
        for left, right in pairs
    }
    unknown = {
        (pair, endpoint): together(open_cases(trials, name, endpoint) for name in pair)
        for pair in pairs
        for endpoint in endpoints
    }
    return compare(family, clusters, "whole set", policy, unknown)


def ablated(one: Variant, whole: Variant) -> bool:
    """Whether `one` is `whole` short of a guard, and the same in all else."""
    same = one.model_copy(update={"name": whole.name, "guards": whole.guards}) == whole
    return same and one.guards.startswith(whole.guards + WITHOUT)

"""Check one route against one specification: fitness, precision, efficiency, pass."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from evals.models.route_spec import Constraint, RouteAlternative, RouteNode, RouteScore, RouteSpec, Steps
from evals.routes.constraints import Walk, tally, walk_of
from evals.routes.route_distance import similarity
from evals.routes.spec_files import node_caps

FITNESS_WEIGHT: Final = 0.6
PRECISION_WEIGHT: Final = 0.25
EFFICIENCY_WEIGHT: Final = 0.15
HARD_PENALTY: Final = 0.5
PASS_FITNESS: Final = 0.9
ROUTE_PASSES: Final = "route.pass"
ROUTE_FITNESS: Final = "route.fitness"
"""The metrics that a route check gives."""
MAX_ID: Final = "steps.max"
HARD_MAX_ID: Final = "hard_max"
_TOLERANCE: Final = 1e-9  # a sum of weights may miss .9 by a rounding error

Shares = Sequence[tuple[Constraint, float]]
"""Activated constraints, each with how far it is fulfilled."""


class RouteResult(NamedTuple):
    """Fitness, the hard rules that are broken, and whether the route passes."""

    fitness: float
    hard: tuple[str, ...]
    passed: bool


def check(
    spec: RouteSpec,
    visits: Sequence[RouteNode],
    state: Mapping[str, float | None],
    supersteps: Sequence[int] | None = None,
) -> RouteScore:
    """Score a route (worker visits in order, repeats kept) against every alternative; the best by (R, raw) counts.

    `state` holds what conditions may read, by field, such as `confidence_before_writer`. `supersteps` has one number
    per visit, never falling; equal numbers ran side by side. Raises `ConfigurationError` if it does not fit the visits.
    """
    walk = walk_of(visits, supersteps)
    scores = (_score(spec, index, walk, state) for index in range(len(spec.alternatives)))
    return max(scores, key=lambda score: (score.R, score.raw))


def _score(spec: RouteSpec, index: int, walk: Walk, state: Mapping[str, float | None]) -> RouteScore:
    alternative = spec.alternatives[index]
    tallies = [(constraint, tally(constraint, walk, state)) for constraint in alternative.constraints]
    shares = [(constraint, t.share) for constraint, t in tallies if t is not None and t.activations]
    fitness, hard, passed = judged(shares, len(walk), alternative.steps)
    precision = _precision(walk, node_caps(spec, alternative), spec.last)
    efficiency = _efficiency(len(walk), alternative.steps)
    raw = FITNESS_WEIGHT * fitness + PRECISION_WEIGHT * precision + EFFICIENCY_WEIGHT * efficiency
    return RouteScore.model_validate(
        {
            "F": fitness,
            "P": precision,
            "E": efficiency,
            "A": _alignment(walk, alternative),
            "H": 0 if hard else 1,
            "hard": hard,
            "raw": raw,
            "R": raw * HARD_PENALTY if hard else raw,
            "pass": passed,
            "unknown": tuple(constraint.id for constraint, t in tallies if t is None),
            "alternative": index,
        }
    )


def judged(shares: Shares, length: int, steps: Steps) -> RouteResult:
    """What decides whether a route of that length passes."""
    hard = [constraint.id for constraint, share in shares if constraint.hard and share < 1]
    if length > steps.hard_max:
        hard.append(HARD_MAX_ID)
    fitness = _fitness(shares)
    return RouteResult(fitness, tuple(hard), not hard and fitness >= PASS_FITNESS - _TOLERANCE and length <= steps.max)


def _fitness(shares: Shares) -> float:
    total = sum(constraint.w for constraint, _ in shares)
    return sum(constraint.w * share for constraint, share in shares) / total if total else 1.0


def _precision(walk: Walk, caps: Mapping[RouteNode, int], last: RouteNode | None) -> float:
    """Share of visits that were allowed: within the cap of their node, if it has one, and not after the node `last`. A
    visit beside that node, in its superstep, is not after it."""
    if not walk:
        return 0.0
    ended = min((step.superstep for step in walk if step.node == last), default=None)
    seen: Counter[RouteNode] = Counter()
    allowed = 0
    for step in walk:
        seen[step.node] += 1
        late = ended is not None and step.superstep > ended
        allowed += not late and seen[step.node] <= caps.get(step.node, len(walk))
    return allowed / len(walk)


def _efficiency(length: int, steps: Steps) -> float:
    if length > steps.hard_max:
        return 0.0
    if length <= steps.target:
        return 1.0
    return max(0.0, 1 - (length - steps.target) / (steps.max - steps.target + 1))


def _alignment(walk: Walk, alternative: RouteAlternative) -> float:
    route, supersteps = [step.node for step in walk], [step.superstep for step in walk]
    return max((similarity(route, exemplar, supersteps) for exemplar in alternative.exemplars), default=0.0)

"""Why a route passes or fails: how it fares by every rule of the alternative that counts, and which alone decides."""

from collections.abc import Iterator, Mapping, Sequence

from evals.models.route import Constraint, RouteAlternative, RouteNode, RouteReading, RouteSpec, RuleShare, Steps
from evals.routes.check import HARD_MAX_ID, MAX_ID, Shares, check, judged
from evals.routes.constraints import Tally, recorded, tally, walk_of


def why(
    spec: RouteSpec,
    visits: Sequence[RouteNode],
    state: Mapping[str, float | None],
    supersteps: Sequence[int] | None = None,
) -> RouteReading:
    """The route read rule by rule; takes, and raises, what `check` does."""
    index = check(spec, visits, state, supersteps).alternative
    alternative, walk = spec.alternatives[index], walk_of(visits, supersteps)
    tallies = [(constraint, tally(constraint, walk, state)) for constraint in alternative.constraints]
    shares = [(constraint, t.share) for constraint, t in tallies if t is not None and t.activations]
    too_long = [name for name, bound in _bounds(alternative.steps) if len(walk) > bound]
    return RouteReading(
        alternative=index,
        shares=tuple(_share(t) for _, t in tallies),
        breaks=(*(constraint.id for constraint, share in shares if share < 1), *too_long),
        decides=tuple(_deciding(shares, len(walk), alternative.steps)),
        read={field: recorded(field, state) for field in fields_read(alternative)},
    )


def fields_read(alternative: RouteAlternative) -> tuple[str, ...]:
    """The state fields that guards of an alternative read, each once, in order."""
    return tuple(dict.fromkeys(field for each in alternative.constraints for field in each.condition or ()))


def _share(t: Tally | None) -> RuleShare:
    return "unknown" if t is None else t.share if t.activations else "vacuous"


def _bounds(steps: Steps) -> tuple[tuple[str, int], ...]:
    return (MAX_ID, steps.max), (HARD_MAX_ID, steps.hard_max)


def _deciding(shares: Shares, length: int, steps: Steps) -> Iterator[str]:
    """Each rule that alone stands between a failed route and a pass."""
    if judged(shares, length, steps).passed:
        return
    for broken, share in shares:
        if share < 1 and judged(_kept(shares, broken), length, steps).passed:
            yield broken.id
    for name, bound in _bounds(steps):
        if length > bound and judged(shares, bound, steps).passed:
            yield name


def _kept(shares: Shares, broken: Constraint) -> Shares:
    """The shares as they would be had this one been fulfilled."""
    return [(constraint, 1.0 if constraint is broken else share) for constraint, share in shares]

"""What two sides have in common, paired: by case, or by frozen state with every gold node weighed alike."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from evals.judging.frozen import State
from evals.stats.macro import macro_weights

Values = Mapping[str, float] | Mapping[State, float]
"""Case id, or frozen state -> score of one endpoint."""


class Pair(NamedTuple):
    """What one case or state was worth on the right (`was`) and on the left (`now`). The plain mean over pairs of
    `weight` times a value is the endpoint's mean; weights differ only where gold nodes are to count alike."""

    state: State
    was: float
    now: float
    weight: float

    @property
    def change(self) -> float:
        """What this pair adds to the difference, weighed."""
        return self.weight * (self.now - self.was)


def paired(left: Values, right: Values) -> list[Pair]:
    """The cases or states both sides have, in order."""
    now, was = _by_state(left), _by_state(right)
    both = sorted(now.keys() & was.keys())
    return [Pair(state, was[state], now[state], weight) for state, weight in zip(both, weights(both), strict=True)]


def weights(states: Sequence[State]) -> list[float]:
    """What each state counts in the mean; 1 on average, and exactly 1 where there is one gold node or none."""
    if len({state.gold for state in states}) < 2:
        return [1.0] * len(states)
    return [len(states) * weight for weight in macro_weights([state.gold for state in states])]


def bounds(pairs: Sequence[Pair], unknown: Mapping[State, float]) -> tuple[float, float] | None:
    """The mean difference with everything unknown lost, and gained; None for an empty sample. Of a pair some samples of
    which are unknown, that share."""
    changes = {pair.state: pair.now - pair.was for pair in pairs}
    states = [*dict.fromkeys((*changes, *unknown))]
    if not states:
        return None
    scale = dict(zip(states, weights(states), strict=True))
    known = sum(scale[state] * change for state, change in changes.items())
    rest = sum(scale[state] * share for state, share in unknown.items())
    return (known - rest) / len(states), (known + rest) / len(states)


def together(sides: Iterable[Mapping[State, float]]) -> dict[State, float]:
    """What is unknown of either side is unknown of the pair: the shares of both, 1 at most, in order of state."""
    found: dict[State, float] = {}
    for state, share in sorted(item for side in sides for item in side.items()):
        found[state] = min(1.0, found.get(state, 0.0) + share)
    return found


def by_case(pairs: Iterable[Pair]) -> dict[str, float]:
    """Case id -> the change of all its pairs together."""
    changes: dict[str, float] = {}
    for pair in pairs:
        changes[pair.state.case_id] = changes.get(pair.state.case_id, 0.0) + pair.change
    return changes


def _by_state(values: Values) -> dict[State, float]:
    return {key if isinstance(key, State) else State(key): value for key, value in values.items()}

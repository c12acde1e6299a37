"""Check of a route against its specification: fitness, pass, violated constraints, distance to an exemplar."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, NamedTuple

from evals.models.case import (
    Constraint,
    RouteAlternative,
    RouteNode,
    RouteReading,
    RouteScore,
    RouteSpec,
    RuleShare,
    Steps,
)
from evals.models.run import CaseInfo, Trial
from evals.routes.constraints import ConstraintCounts, Walk, node_caps, recorded, tally, walk_of

Supersteps = Sequence[int] | None
"""One number per visit, never falling; equal numbers ran side by side. None: one visit after the other."""


def lcs_length(left: Sequence[str], right: Sequence[str], supersteps: Supersteps = None) -> int:
    """Length of the longest common subsequence, O(len(left) * len(right)); `supersteps` are those of `left`."""
    row = [0] * (len(right) + 1)
    for group in _side_by_side(left, supersteps):
        row = _after_one(row, group[0], right) if len(group) == 1 else _after_many(row, group, right)
    return row[-1]


def similarity(route: Sequence[str], exemplar: Sequence[str], supersteps: Supersteps = None) -> float:
    """`2·LCS / (|route| + |exemplar|)`, 0 to 1; two empty routes are alike."""
    total = len(route) + len(exemplar)
    return 2 * lcs_length(route, exemplar, supersteps) / total if total else 1.0


def nearest_exemplar(
    route: Sequence[str], exemplars: Sequence[Sequence[str]], supersteps: Supersteps = None
) -> Sequence[str] | None:
    """The exemplar most similar to the route, the first of equals; None if there is none."""
    return max(exemplars, key=lambda exemplar: similarity(route, exemplar, supersteps), default=None)


def first_divergence(
    route: Sequence[str], exemplars: Sequence[Sequence[str]], supersteps: Supersteps = None
) -> int | None:
    """Index of the first visit that leaves the nearest exemplar (its end counts); None if it is followed throughout.

    Of visits side by side, as many follow the exemplar as can; the first listed of the others leaves it.
    """
    nearest = nearest_exemplar(route, exemplars, supersteps)
    if nearest is None:
        return None
    start = 0
    for group in _side_by_side(route, supersteps):
        left = list(range(start, start + len(group)))
        for wanted in nearest[start : start + len(group)]:
            follower = next((i for i in left if route[i] == wanted), None)
            if follower is None:
                break
            left.remove(follower)
        if left:
            return left[0]
        start += len(group)
    return start if start < len(nearest) else None


def _side_by_side(route: Sequence[str], supersteps: Supersteps) -> Iterator[Sequence[str]]:
    if supersteps is None:
        yield from ((node,) for node in route)
        return
    for _, group in groupby(zip(supersteps, route, strict=True), key=lambda pair: pair[0]):
        yield [node for _, node in group]


def _after_one(row: Sequence[int], node: str, right: Sequence[str]) -> list[int]:
    """The lengths with every beginning of `right`, one visit further."""
    new = [0]
    for place, other in enumerate(right):
        new.append(row[place] + 1 if node == other else max(row[place + 1], new[place]))
    return new


def _after_many(row: Sequence[int], group: Sequence[str], right: Sequence[str]) -> list[int]:
    """The same for visits without an order: against a stretch of `right` they share what both hold, counted."""
    held = Counter(group)
    return [
        max(row[start] + (held & Counter(right[start:end])).total() for start in range(end + 1))
        for end in range(len(right) + 1)
    ]


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


_ASKS: Final = {
    "init": "begins with {a}",
    "end": "ends with {a}",
    "precedence": "{a} before {b}",
    "response": "after {a}, later {b}",
    "chain_precedence": "{a} just before {b}",
    "chain_response": "just after {a}, {b}",
    "not_succession": "after {a}, no {b}",
    "not_coexistence": "not both {a} and {b}",
}
_READ_AT: Final = {"confidence": "confidence at the decision that ended the route"}


class RouteRule(NamedTuple):
    """A rule as tables show it. A limit on the length has no weight: beyond it a route fails, whatever else it keeps; a
    hard one halves its score as well."""

    id: str
    asks: str
    hard: bool
    weight: float | None

    @property
    def force(self) -> str:
        """`hard 2`, `soft 2`, `limit` or `hard limit`."""
        if self.weight is None:
            return "hard limit" if self.hard else "limit"
        return f"{'hard' if self.hard else 'soft'} {self.weight:g}"


def rules_of(alternative: RouteAlternative, nodes: Collection[RouteNode] = ()) -> tuple[RouteRule, ...]:
    """Every constraint of an alternative in order, then the two bounds on its length. `nodes` are all of the graph."""
    return (*(_constrained(each, nodes) for each in alternative.constraints), *_bounds_words(alternative))


def rules_named(
    alternative: RouteAlternative, names: Collection[str], nodes: Collection[RouteNode] = ()
) -> dict[str, RouteRule]:
    """Those of its rules whose ids are among `names`, by id: most routes break few rules or none."""
    asked = [_constrained(each, nodes) for each in alternative.constraints if each.id in names]
    return {rule.id: rule for rule in (*asked, *_bounds_words(alternative)) if rule.id in names}


def _constrained(each: Constraint, nodes: Collection[RouteNode]) -> RouteRule:
    return RouteRule(each.id, asks(each, nodes), each.hard, each.w)


def _bounds_words(alternative: RouteAlternative) -> tuple[RouteRule, RouteRule]:
    steps = alternative.steps
    return (
        RouteRule(MAX_ID, f"at most {steps.max} visits", hard=False, weight=None),
        RouteRule(HARD_MAX_ID, f"at most {steps.hard_max} visits, whatever the case", hard=True, weight=None),
    )


def asks(constraint: Constraint, nodes: Collection[RouteNode] = ()) -> str:
    """What a constraint asks of a route; `nodes` are all nodes of the graph, where they are known."""
    template = _ASKS.get(constraint.type)
    told = (
        template.format(a=_any_of(constraint.a, nodes), b=_any_of(constraint.b, nodes))
        if template
        else _times(constraint, nodes)
    )
    conditions = [f"{field_words(name)} {op} {bound:g}" for name, (op, bound) in (constraint.condition or {}).items()]
    return f"{told}, if {' and '.join(conditions)}" if conditions else told


def field_words(field: str) -> str:
    """A state field that conditions read, in words."""
    return field.replace("_", " ")


def read_words(field: str, value: float | None) -> str:
    """What a condition read."""
    return f"{_READ_AT.get(field, field_words(field))}: {'not recorded' if value is None else f'{value:g}'}"


def _times(constraint: Constraint, nodes: Collection[RouteNode]) -> str:
    least, most = (None, 0) if constraint.type == "absence" else (constraint.min, constraint.max)
    if most == 0:
        return f"no {_any_of(constraint.a, nodes)}"
    bounds = [f"at {word} {_count(n)}" for word, n in (("least", least), ("most", most)) if n is not None]
    return f"{_any_of(constraint.a, nodes)} {' and '.join(bounds)}"


def _count(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _any_of(named: Sequence[RouteNode], nodes: Collection[RouteNode]) -> str:
    return "visit" if nodes and set(named) >= set(nodes) else " or ".join(named)


class Break(NamedTuple):
    """One trial that breaks a rule: who answered, which case, and whether it would have passed but for this rule."""

    who: str
    case_id: str
    alone: bool


@dataclass(frozen=True)
class Breach:
    """A rule that some route breaks. `rule.asks` is empty where it asks of each case something else."""

    rule: RouteRule
    breaks: tuple[Break, ...]

    def broken_by(self, who: str) -> tuple[str, ...]:
        """The case of each trial that breaks it."""
        return tuple(each.case_id for each in self.breaks if each.who == who)

    def decided_alone(self, who: str) -> tuple[str, ...]:
        """The case of each trial that would have passed but for this rule."""
        return tuple(each.case_id for each in self.breaks if each.who == who and each.alone)

    @property
    def weight(self) -> tuple[int, int]:
        """How much it matters: trials it decides alone, then trials that break it."""
        return sum(each.alone for each in self.breaks), len(self.breaks)


def breaches(trials: Iterable[tuple[str, Trial]], cases: Mapping[str, CaseInfo]) -> tuple[Breach, ...]:
    """Every rule that a route breaks, the one that decides most verdicts alone first; `trials` with who answered."""
    found: dict[tuple[str, str], list[tuple[RouteRule, Break]]] = {}
    for who, trial in trials:
        for rule, broken in _broken(who, trial, cases[trial.trace.case_id]):
            found.setdefault((rule.id, rule.force), []).append((rule, broken))
    ranked = [_breach(group) for group in found.values()]
    return tuple(sorted(ranked, key=lambda breach: (*(-count for count in breach.weight), breach.rule.id)))


def rules_broken(case: CaseInfo, reading: RouteReading) -> dict[str, RouteRule]:
    """The rules that a route breaks, by id; none where a run was stored without them."""
    spec = case.route_spec
    return rules_named(spec.alternatives[reading.alternative], reading.breaks, spec.node_caps) if spec else {}


def _broken(who: str, trial: Trial, case: CaseInfo) -> Iterator[tuple[RouteRule, Break]]:
    if trial.reading is None:
        return
    rules = rules_broken(case, trial.reading)
    for name in trial.reading.breaks:
        if name in rules:
            yield rules[name], Break(who, case.id, alone=name in trial.reading.decides)


def _breach(group: list[tuple[RouteRule, Break]]) -> Breach:
    rule = group[0][0]
    same = all(other.asks == rule.asks for other, _ in group)
    return Breach(rule if same else rule._replace(asks=""), tuple(broken for _, broken in group))


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
    """The state fields that conditions of an alternative read, each once, in order."""
    return tuple(dict.fromkeys(field for each in alternative.constraints for field in each.condition or ()))


def _share(t: ConstraintCounts | None) -> RuleShare:
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

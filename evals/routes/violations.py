"""Violated constraints of routes: which, why, and in words."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from evals.models.route_spec import Constraint, RouteAlternative, RouteNode, RouteReading, RouteSpec, RuleShare, Steps
from evals.models.run import CaseInfo, Trial
from evals.routes.constraints import ConstraintCounts, recorded, tally, walk_of
from evals.routes.route_check import HARD_MAX_ID, MAX_ID, Shares, check, judged

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

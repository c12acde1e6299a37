"""Rules of a route in words: what a constraint asks, how much it weighs, and what its guard read."""

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from evals.models.route import Constraint, RouteAlternative, RouteNode
from evals.routes.check import HARD_MAX_ID, MAX_ID
from evals.routes.spec import ALL_NODES

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
_READ_AT: Final = {"confidence": "confidence at the decision that went to the writer"}


class Rule(NamedTuple):
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


def rules_of(alternative: RouteAlternative) -> tuple[Rule, ...]:
    """Every constraint of an alternative in order, then the two bounds on its length."""
    return (*(_constrained(each) for each in alternative.constraints), *_bounds(alternative))


def rules_named(alternative: RouteAlternative, names: Collection[str]) -> dict[str, Rule]:
    """Those of its rules whose ids are among `names`, by id: most routes break few rules or none."""
    asked = [_constrained(each) for each in alternative.constraints if each.id in names]
    return {rule.id: rule for rule in (*asked, *_bounds(alternative)) if rule.id in names}


def _constrained(each: Constraint) -> Rule:
    return Rule(each.id, asks(each), each.hard, each.w)


def _bounds(alternative: RouteAlternative) -> tuple[Rule, Rule]:
    steps = alternative.steps
    return (
        Rule(MAX_ID, f"at most {steps.max} visits", hard=False, weight=None),
        Rule(HARD_MAX_ID, f"at most {steps.hard_max} visits, whatever the case", hard=True, weight=None),
    )


def asks(constraint: Constraint) -> str:
    """What a constraint asks of a route."""
    template = _ASKS.get(constraint.type)
    told = template.format(a=_any_of(constraint.a), b=_any_of(constraint.b)) if template else _times(constraint)
    guards = [f"{field_words(name)} {op} {bound:g}" for name, (op, bound) in (constraint.condition or {}).items()]
    return f"{told}, if {' and '.join(guards)}" if guards else told


def field_words(field: str) -> str:
    """A state field that guards read, in words."""
    return field.replace("_", " ")


def read_words(field: str, value: float | None) -> str:
    """What a guard read."""
    return f"{_READ_AT.get(field, field_words(field))}: {'not recorded' if value is None else f'{value:g}'}"


def _times(constraint: Constraint) -> str:
    least, most = (None, 0) if constraint.type == "absence" else (constraint.min, constraint.max)
    if most == 0:
        return f"no {_any_of(constraint.a)}"
    bounds = [f"at {word} {_count(n)}" for word, n in (("least", least), ("most", most)) if n is not None]
    return f"{_any_of(constraint.a)} {' and '.join(bounds)}"


def _count(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _any_of(nodes: Sequence[RouteNode]) -> str:
    return "visit" if len(nodes) == len(ALL_NODES) else " or ".join(nodes)

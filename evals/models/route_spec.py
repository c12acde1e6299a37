"""Route specifications: constraints, alternatives, and the score of one route."""

from typing import Annotated, Final, Literal

from pydantic import Field

from evals.models.base import Closed

RouteNode = str
"""Name of a node of the target's graph."""
END: Final = "end"
Choice = str
"""What a router chooses: a node, or END."""
ConstraintType = Literal[
    "init",
    "end",
    "existence",
    "absence",
    "precedence",
    "response",
    "chain_precedence",
    "chain_response",
    "not_succession",
    "not_coexistence",
]
Operator = Literal["<", "<=", ">", ">=", "==", "!="]
QuestionPolicy = Literal["forbidden", "allowed", "required"]


class Constraint(Closed):
    """One DECLARE-like rule over any-of node sets `a` (and `b`), optionally guarded on recorded state. `proof` says why
    a hard one may demand its visit: `gold`, `code PATH`, `page`, `user`, `harm`."""

    id: str
    type: ConstraintType
    a: tuple[RouteNode, ...]
    b: tuple[RouteNode, ...] = ()
    min: int | None = None
    max: int | None = None
    condition: dict[str, tuple[Operator, float]] | None = Field(default=None, alias="if")
    w: Annotated[float, Field(gt=0)] = 1.0
    hard: bool = False
    proof: tuple[Annotated[str, Field(pattern=r"^(gold|code \S+|page|user|harm)$")], ...] = ()


class Steps(Closed):
    """How long a route may be, in visits: `target` costs nothing, beyond `max` the route fails."""

    target: Annotated[int, Field(ge=1)]
    max: Annotated[int, Field(ge=1)]
    hard_max: Annotated[int, Field(ge=1)] = 10


class RouteAlternative(Closed):
    """One acceptable way through the graph."""

    constraints: tuple[Constraint, ...]
    steps: Steps
    node_max: dict[RouteNode, int] = Field(default_factory=dict)
    exemplars: tuple[tuple[RouteNode, ...], ...] = ()
    question: QuestionPolicy = "allowed"


class RouteSpec(Closed):
    """Everything a trace is held against: at most three alternatives, the best one counts."""

    name: str
    last: Annotated[str | None, Field(exclude_if=lambda value: value is None)] = None
    """The node that ends a route: a visit after it costs precision."""
    node_caps: dict[RouteNode, int]
    alternatives: Annotated[tuple[RouteAlternative, ...], Field(min_length=1, max_length=3)]


class RouteScore(Closed):
    """One trace against one specification; the letters are those of `docs/metrics.md`."""

    F: float
    P: float
    E: float
    A: float
    H: Literal[0, 1]
    hard: tuple[str, ...]
    raw: float
    R: float
    passed: bool = Field(alias="pass")
    unknown: tuple[str, ...] = ()
    alternative: int = 0


RuleShare = float | Literal["vacuous", "unknown"]


class RouteReading(Closed):
    """Why one route passes or fails: how it fared by each rule of the alternative that counts.

    `shares` go with that alternative's constraints, in order: how far each is fulfilled, `vacuous` where nothing
    activated it, `unknown` where its condition reads a state field that was not recorded. `breaks` names those short of
    1, and `steps.max` and `hard_max` where the route is too long; `decides` those of them each of which, alone kept,
    would have made it pass. `read` is what the conditions found, by field.
    """

    alternative: int
    shares: tuple[RuleShare, ...]
    breaks: tuple[str, ...] = ()
    decides: tuple[str, ...] = ()
    read: dict[str, float | None] = Field(default_factory=dict)

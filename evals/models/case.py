"""A case as the harness uses it: text, route specification, decision points, scripted answers."""

from typing import Annotated, Any, Final, Literal, Protocol

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


Split = Literal["tune", "gate", "holdout"]


class ScriptedAnswer(Closed):
    """What the simulated user says when a question touches `topic` (any of `keywords`, in any case, from
    the start of a word)."""

    topic: str
    keywords: Annotated[tuple[Annotated[str, Field(pattern=r"\S")], ...], Field(min_length=1)]
    answer: str


class Question(Closed):
    """Whether the user should be asked, and what the simulated user knows."""

    policy: QuestionPolicy
    answers: tuple[ScriptedAnswer, ...] = ()
    dont_know: str = "I don't know, sorry."


class RouteLabel(Closed):
    """The case's own part of a route alternative; the policy pack is joined in when the case is loaded.

    `overrides` switches a policy constraint off by id (security and data-corruption cases do so with P2b).
    """

    constraints: tuple[Constraint, ...]
    target: int
    max: int
    node_max: dict[RouteNode, int] = Field(default_factory=dict)
    exemplars: Annotated[tuple[tuple[RouteNode, ...], ...], Field(min_length=1)]
    overrides: tuple[str, ...] = ()


class DecisionPoint(Closed):
    """A frozen state and the next nodes that are acceptable in it, graded 0..1 (1 = right, 0.5 = defensible).

    `state` holds fields of `triage.state.BugTriageState`; what is left out has its default there.
    """

    id: str
    state: dict[str, Any]
    accept: Annotated[dict[Choice, Annotated[float, Field(gt=0, le=1)]], Field(min_length=1)]
    why: str

    @property
    def gold(self) -> Choice:
        """The best graded node, the first named of equals."""
        return max(self.accept, key=lambda node: self.accept[node])


class Labels(Protocol):
    """What the harness reads of a case's labels; a pack's own labels have more."""

    id: str
    split: Split
    tags: tuple[str, ...]
    pair_id: str | None
    must_pass: bool
    canary: str | None
    question: Question
    decision_points: tuple[DecisionPoint, ...]

    @property
    def kind(self) -> str:
        """The slice that the case is in."""

    @property
    def unlabelled(self) -> frozenset[str]:
        """The labels that are only defaults, and are never scored."""

    @property
    def exemplars(self) -> tuple[tuple[RouteNode, ...], ...]:
        """Routes that pass."""

    def at(self, ids: frozenset[str]) -> "Labels":
        """The same with only these decision points."""

    def shown(self) -> dict[str, Any]:
        """The labels by name, as JSON, as `CaseInfo.labels` keeps them."""


class Case(Closed):
    """A case ready to run: its labels, its text, and the route specification with the policy joined in."""

    labels: Any
    """Labels of the pack, with everything that `Labels` has."""
    title: str
    body: str
    url: str = ""
    repository: str = ""
    route_spec: RouteSpec
    digest: str
    tree: str | None = None
    """What the folder with its code is called, where the code is a released package; None for all other cases."""
    code: str | None = None
    """What the folder with its code is called, named by the content of codebase and patch when the case was loaded;
    None where that is a released package or a commit, and for a case without code."""
    inputs: Annotated[dict[str, Any], Field(exclude_if=lambda value: not value)] = Field(default_factory=dict)
    """What the graph is called with, where that is not the text."""
    only_points: Annotated[bool, Field(exclude_if=lambda value: not value)] = False
    """Whether its decision points are all that is asked: the graph is not run."""

    @property
    def known(self) -> Labels:
        """The labels that every pack has."""
        labels: Labels = self.labels
        return labels

    @property
    def id(self) -> str:
        """The case's name, unique in the dataset."""
        return self.known.id

    @property
    def points(self) -> tuple[DecisionPoint, ...]:
        """The frozen states of the case."""
        return self.known.decision_points

    @property
    def must_pass(self) -> bool:
        """Whether the gate is red as soon as the candidate fails it."""
        return self.known.must_pass

    @property
    def cluster(self) -> str:
        """What is resampled together: twins, else the case itself."""
        return self.known.pair_id or self.known.id

"""The trace of a trial: decisions, steps, calls and misses."""

from collections.abc import Iterable
from functools import partial
from itertools import takewhile
from operator import is_, not_
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from evals.models.base import Closed
from evals.models.case import Choice, RouteNode
from evals.models.suite import Fraction

_IS_NONE: Final = partial(is_, None)


class Difference(Closed):
    """One place where two requests part; `recorded` and `asked` are its lines, shortened to what a person reads.

    `path` is the place in the body as JSON, `line` the line of its text where it begins (from 1; 0: no text of lines),
    `after` and `before` the shared lines around it. `volatile` names what the lines differ in where that is nothing but
    text that changes by itself, such as a time.
    """

    path: str
    line: Annotated[int, Field(ge=0)] = 0
    recorded: str
    asked: str
    after: str = ""
    before: str = ""
    volatile: tuple[str, ...] = ()

    @property
    def change(self) -> str:
        """What was added, removed, or became what, from the first word that differs on."""
        old, new = self.recorded.split(), self.asked.split()
        same = next(
            (place for place, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new))
        )
        if not old[same:]:
            return f"added {_few(new[same:])}"
        return f"{_few(old[same:])} became {_few(new[same:])}" if new[same:] else f"removed {_few(old[same:])}"


def _few(words: list[str]) -> str:
    return repr(" ".join(words[:6]) + (" …" if len(words) > 6 else ""))


class Nearest(Closed):
    """The recorded request of the same agent that comes closest: first by system prompt, then by all the rest.

    `key` and `sample` name it. `alike` is the share of words the two have in common, `prompt_alike` the same for their
    system prompts alone; `prompt_digest` is that of the recorded system prompt.
    """

    key: str
    sample: Annotated[int, Field(ge=0)] = 0
    alike: Fraction
    prompt_alike: Fraction
    prompt_digest: str = ""
    differences: tuple[Difference, ...] = ()


class Finding(Closed):
    """What one visit learned."""

    agent_name: RouteNode
    summary: str
    confidence: float
    details: str
    relevant_files: tuple[str, ...] = ()


class Visit(Closed):
    """One run of a worker. Visits with the same `superstep` ran side by side and have no order. `reviews` is the task
    whose result this one judged because a plan's machine has every result judged; None: it was sent for. `read` is what
    a code search was shown, best first: `path::Class.function`, or `path` for what stands outside of any; `places` the
    same as `path:first-last`, in lines."""

    node: RouteNode
    superstep: int
    reviews: int | None = None
    read: tuple[str, ...] = ()
    places: Annotated[tuple[str, ...], Field(exclude_if=not_)] = ()
    findings: tuple[Finding, ...] = ()
    error: str | None = None
    arguments: Annotated[dict[str, Any] | None, Field(exclude_if=_IS_NONE)] = None
    """What a tool was called with, as JSON; None for a node."""
    ran: Annotated[bool, Field(exclude_if=not_)] = False
    """Whether it was a tool that ran for real, since its results are not recorded."""
    agent: Annotated[str, Field(exclude_if=lambda value: not value)] = ""
    """The agent that a target's step belongs to, if it has a name."""
    below: Annotated[int | None, Field(exclude_if=lambda value: value is None)] = None
    """Place among the visits of the tool call, or else the node, that started the graph of this one."""


class GraphNames(Closed):
    """The names that labels may use, sorted: `members` of the output; `steps` are nodes, and tools that a model is
    offered."""

    members: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()


class Override(Closed):
    """A rule of the graph's code that overrode a choice, by the rule's name."""

    rule: str
    chosen: Choice
    send_to: Choice


class Decision(Closed):
    """One answer of a router: what it was shown, what it chose, where overrides sent it. `tasks` are those of a plan it
    chose to run side by side; `chosen` then stands for all of them."""

    index: int
    iteration: int
    context: str = ""
    chosen: Choice
    routed: Choice
    reasoning: str = ""
    confidence: float | None = None
    question: str | None = None
    overrides: tuple[Override, ...] = ()
    forced_fallback: bool = False
    corrections: int = 0
    error: str | None = None
    tasks: tuple[int, ...] = ()


class Exchange(Closed):
    """A question the graph asked and what the simulated user said; `topic` is None for "don't know"."""

    question: str
    context: str
    answer: str
    topic: str | None


class Call(Closed):
    """One request that was served: by whom it was made, which model answered, what it cost at recording time, and who
    answers for the recording."""

    agent: str
    key: str
    model: str
    prompt_tokens: Annotated[int, Field(ge=0)] = 0
    completion_tokens: Annotated[int, Field(ge=0)] = 0
    latency_ms: Annotated[float, Field(ge=0)] = 0.0
    recorded_by: str | None = None


class Miss(Closed):
    """A request nobody recorded. `decision` is the number of decisions complete before it, `characters` the length of
    its body; `nearest` is None where the case's cassette has nothing of this agent."""

    key: str
    agent: str
    method: str
    path: str
    model: str
    decision: int
    characters: Annotated[int, Field(ge=0)] = 0
    nearest: Nearest | None = None


class PlanTaskEvent(Closed):
    """One thing that happened to a task of a plan: at which step of the supervisor, the status it left, and why."""

    step: int
    status: str
    note: str


class PlannedTask(Closed):
    """One task of a plan as the trial left it. `feedback` is the last word of a review on its result, None if there is
    none; `attempts` counts how often a worker was sent."""

    task_id: int
    objective: str
    capability: RouteNode
    dependencies: tuple[int, ...]
    status: str
    attempts: int
    is_final: bool
    guidance: str
    result: str | None
    feedback: str | None
    history: tuple[PlanTaskEvent, ...]


class TaskPlan(Closed):
    """The plan of a trial: its tasks in order of id, and its edges, each from a task to one that waits for it."""

    tasks: tuple[PlannedTask, ...]
    edges: tuple[tuple[int, int], ...]


class PointAnswer(Closed):
    """What the supervisor chose in one frozen state (open-loop); `chosen` is None when nobody recorded it. `keys` are
    the requests that were served for it, `models` the names of the models that answered them, sorted; empty in a trace
    from before they were kept. `say`: whether it could have chosen another worker at all."""

    point: str
    chosen: Choice | None
    routed: Choice | None
    confidence: float | None = None
    reasoning: str = ""
    keys: tuple[str, ...] = ()
    models: Annotated[tuple[str, ...], Field(exclude_if=not_)] = ()
    say: bool = True


class Provenance(Closed):
    """What a trial rests on: `exact`, `frontier` (exact up to decision `frontier`), `unrecorded`, or `failed`."""

    label: Literal["exact", "frontier", "unrecorded", "failed"]
    frontier: int | None = None

    def __str__(self) -> str:
        return f"frontier@{self.frontier}" if self.label == "frontier" else self.label


class Trace(Closed):
    """Everything one trial did. Scorers see a trace only when its provenance is `exact`."""

    case_id: str
    variant: str
    sample: int
    provenance: Provenance
    visits: tuple[Visit, ...] = ()
    decisions: tuple[Decision, ...] = ()
    exchanges: tuple[Exchange, ...] = ()
    calls: tuple[Call, ...] = ()
    misses: tuple[Miss, ...] = ()
    points: tuple[PointAnswer, ...] = ()
    point_misses: tuple[Miss, ...] = ()
    facts: Annotated[dict[str, tuple[str, ...]], Field(exclude_if=not_)] = Field(default_factory=dict)
    """What scorers of the pack read besides, by name, such as the files of a repository."""
    topology: str = ""
    plan: TaskPlan | None = None
    output: Annotated[dict[str, Any], Field(exclude_if=not_)] = Field(default_factory=dict)
    """What the graph returned, as JSON."""
    names: Annotated[GraphNames | None, Field(exclude_if=_IS_NONE)] = None
    live: Annotated[tuple[str, ...], Field(exclude_if=not_)] = ()
    """Requests and hosts that were answered by the services themselves, which may answer otherwise the next time."""
    error: str | None = None

    @property
    def choices(self) -> dict[str, Choice]:
        """Frozen state -> what the supervisor chose in it, where that was recorded and its own doing."""
        return {answer.point: answer.chosen for answer in self.points if answer.chosen is not None and answer.say}

    @property
    def without_say(self) -> frozenset[str]:
        """The frozen states in which the supervisor had no choice between workers, so that none of it was its own."""
        return frozenset(answer.point for answer in self.points if not answer.say)

    @property
    def asked(self) -> set[str]:
        """The keys of all requests it was given an answer to, those of decision points included."""
        return {*(call.key for call in self.calls), *(key for point in self.points for key in point.keys)}

    @property
    def walked(self) -> tuple[RouteNode, ...]:
        """Every run of a worker in order."""
        return tuple(visit.node for visit in self.visits)

    @property
    def steps(self) -> tuple[Visit, ...]:
        """The visits somebody decided on: all but the reviews a plan's machine makes of every result."""
        return tuple(visit for visit in self.visits if visit.reviews is None)

    @property
    def route(self) -> tuple[RouteNode, ...]:
        """The worker visits in order, reviews inside a task left out."""
        return tuple(visit.node for visit in self.steps)

    @property
    def supersteps(self) -> tuple[int, ...]:
        """When each visit of the route ran; equal numbers ran side by side."""
        return tuple(visit.superstep for visit in self.steps)

    @property
    def is_target(self) -> bool:
        """Whether it is of a target: its decisions are made by its own steps, not between them."""
        return self.names is not None

    @property
    def decided(self) -> dict[int, Decision]:
        """Place among the visits of a target -> the decision made there."""
        nodes = [place for place, visit in enumerate(self.visits) if visit.arguments is None]
        return {nodes[decision.iteration]: decision for decision in self.decisions} if self.is_target else {}

    def state(self, nodes: Iterable[RouteNode]) -> dict[str, float | None]:
        """What the condition of a route constraint may read: for each of the nodes, and of those of the route,
        `confidence_before_NODE` and `reviews_before_NODE`."""
        found: dict[str, float | None] = {}
        for node in {*nodes, *self.walked, *(decision.routed for decision in self.decisions)}:
            before = takewhile(lambda visit: visit.node != node, self.visits)  # noqa: B023 - read before the next node
            found[f"confidence_before_{node}"] = self.confidence_before(node)
            found[f"reviews_before_{node}"] = sum(each.reviews is not None and each.error is None for each in before)
        return found

    def confidence_before(self, node: RouteNode) -> float | None:
        """The confidence at the decision that sent the graph to the node for the first time; None if none did.

        A plan may send a worker beside others, so it is found by how many visits there were before it.
        """
        place = next((i for i, v in enumerate(self.visits) if v.node == node and v.reviews is None), None)
        if place is None:
            return next((each.confidence for each in self.decisions if each.routed == node), None)
        before = [each.confidence for each in self.decisions if each.iteration <= place]
        return before[-1] if before else None

"""The result of one `evals run`; report, exports and exit code are made from it."""

import sys
from collections.abc import Iterable
from hashlib import blake2b
from typing import Annotated, Final, Literal, TypeVar

from pydantic import Field, JsonValue

from evals.models.base import Closed, Sealed, Tabular
from evals.models.case import Choice, QuestionPolicy, RouteNode, RouteReading, RouteSpec, Split
from evals.models.forced_decision import DecisiveStep
from evals.models.metrics import (
    Calibration,
    Confusion,
    Measure,
    MeasureInfo,
    Outcome,
    Redraw,
    SampleAgreement,
    Twins,
)
from evals.models.suite import CostLimit, CostName, GatePolicy, Variant
from evals.models.trace import Trace

RUN_SCHEMA: Final = 7
"""2 brought measures, 3 why a route passes or fails, 5 foreign gold, 6 tests of rules and digests of cassettes; older
runs have none of it. Since 7 labels and output of a case are mappings."""

FOREIGN_SCORERS: Final = "of another tool"
"""In place of the digest of the scorers, where values were read from another tool's file."""
_LEFT_OUT: Final = Field(exclude_if=lambda value: not value)
"""Not written while empty, so that the digest of a file from before the field was added still holds."""
Unit = Literal["fraction", "count", "tokens", "seconds", "USD"]
EndpointVerdict = Literal["regression", "improvement", "equivalent within margin", "inconclusive", "cannot judge"]


class ScorerInfo(Closed):
    """A scorer as the report explains it. A `macro` one is averaged by gold node, any other over cases."""

    name: str
    unit: Unit
    better: Literal["higher", "lower"]
    primary: bool
    open_loop: bool = False
    macro: bool = False
    definition: str


def trial_metrics(scorers: Iterable[ScorerInfo]) -> tuple[str, ...]:
    """The primary metrics that a whole trial passes (1) or fails (0); without those of decision points."""
    return tuple(info.name for info in scorers if info.primary and not info.open_loop)


class PointInfo(Closed):
    """What the report shows of a decision point: the graded acceptable next nodes, and why."""

    id: str
    accept: dict[Choice, float]
    why: str

    @property
    def gold(self) -> Choice:
        """The best graded node, the first named of equals."""
        return max(self.accept, key=lambda node: self.accept[node])


class CaseInfo(Closed):
    """What the report shows of a case; what its run was too early to keep is None."""

    id: str
    title: str
    body: str
    slice: str
    split: Split
    question: QuestionPolicy
    exemplars: tuple[tuple[RouteNode, ...], ...]
    cluster: str
    digest: str
    must_pass: bool = False
    points: tuple[PointInfo, ...] = ()
    route_spec: RouteSpec | None = None
    labels: dict[str, JsonValue] = Field(default_factory=dict, exclude_if=lambda value: not value)
    """The labels of the pack by name, without those that the source does not state."""


class EarlierPrompt(Closed):
    """A prompt before it was edited: as it was blessed, or as of the last commit or where this branch began."""

    since: Literal["blessed", "committed"]
    text: str


class EditedPrompt(Closed):
    """A prompt that belongs to no variant, such as a worker's, and was edited."""

    path: str
    text: str
    earlier: EarlierPrompt


class VariantInfo(Closed):
    """A variant with the exact prompt text it ran, and the plan file it started from; the digest is of both. All are
    empty where its supervisor reads none. `earlier` is None where the prompt is unchanged, or nobody knows."""

    variant: Variant
    prompt_version: str = ""
    prompt_digest: str = ""
    prompt_source: str = ""
    prompt_text: str = ""
    earlier: EarlierPrompt | None = None
    plan_text: str = ""


class Trial(Closed):
    """One case under one variant: what happened, every score of it, and why its route passes or fails: `reading`, None
    where the route is not wholly on the tape, and in a run from before schema 3."""

    trace: Trace
    outcomes: dict[str, Outcome]
    hard_violations: tuple[str, ...] = ()
    first_divergence: int | None = None
    reading: RouteReading | None = None
    decisive: DecisiveStep | None = Field(default=None, exclude_if=lambda value: value is None)
    """At which decision a failed trial went wrong, where that was asked for."""


class Coverage(Closed):
    """What a variant's numbers rest on, in trials."""

    exact: int
    frontier: int
    unrecorded: int
    failed: int

    @property
    def total(self) -> int:
        """Trials planned."""
        return self.exact + self.frontier + self.unrecorded + self.failed


class Summary(Closed):
    """One score of one variant over its cases (samples averaged inside a case first), or over its gold nodes.

    `n` cases were scored; `low` and `high` are a 95 % interval that keeps clusters together (mid-P for fractions,
    Student's t otherwise; None where there are too few cases for one). `pessimistic` and `optimistic` count every case
    off the tape as worst and as best; they exist for fractions only. `hits` is the number of cases at exactly 1 when
    every value is 0 or 1 and all count alike.
    """

    variant: str
    scorer: str
    n: int
    total: int
    mean: float | None
    low: float | None
    high: float | None
    hits: int | None
    pessimistic: float | None
    optimistic: float | None
    skipped: int
    failed: int


class DatasetBaseline(Closed):
    """What an `endpoint` comes to without any model: `share` (0 to 1) of `n`, and what was chosen to reach it."""

    endpoint: str
    name: str
    definition: str
    share: Annotated[float, Field(ge=0, le=1)]
    n: Annotated[int, Field(ge=1)]
    detail: str = ""


class Scope(Closed):
    """How much of the dataset a run is about.

    `cases` are in the dataset, `unrecorded` are those of them without any recording, `sealed` those of the suite left
    out because they are held out; `openings` counts how often the holdout has been opened so far.
    """

    cases: int
    selected: int
    unrecorded: tuple[str, ...] = ()
    sealed: tuple[str, ...] = ()
    openings: int = 0


class Comparison(Closed):
    """Two variants (or a variant and its baseline) on one endpoint, paired by case; `delta` is left minus right.
    Against the `whole set` is a variant that lacks one of its guards.

    `n` cases are paired, `of` would be with everything on the tape; `pessimistic` and `optimistic` are the delta with
    the rest lost and gained. `p_value` and `p_holm` (adjusted for all tests of the family) are those of the verdict: of
    "better" for an improvement, else of "worse". `minimum_detectable` is the smallest drop that is called a regression
    in 80 of 100 such comparisons. `fewest_losses` is how many lost cases, each in a cluster of its own and beside those
    gained here, would have been called one; None for graded scores, and where no number would do.
    `divergence` says in one clause what the broken cases have in common; empty where none broke, and against a baseline
    that keeps no routes.
    """

    endpoint: str
    left: str
    right: str
    against: Literal["reference", "baseline", "whole set"]
    n: int
    of: int = 0
    delta: float | None
    low: float | None
    high: float | None
    pessimistic: float | None = None
    optimistic: float | None = None
    broke: tuple[str, ...]
    mended: tuple[str, ...]
    p_value: float | None
    p_holm: float | None
    minimum_detectable: float | None
    fewest_losses: int | None = None
    verdict: EndpointVerdict
    divergence: str = ""


class RuleTest(Closed):
    """Hard constraints of a variant, or one slice of it, as a paired test over cases.

    `lost`: cases in which constraints are newly violated (which ones), or that a slice lost; `gained`: the other way
    round. `certain`: those of `lost` whose answers are the ones the baseline was blessed with, so that chance has no
    part in them. `fewest`: how many lost cases would have been significant beside those gained. `worse`: the gate
    counts it, because `certain` cases decide it or because `p_holm` is at most alpha.
    """

    kind: Literal["new hard violation", "slice collapsed"]
    left: str
    right: str
    against: Literal["reference", "baseline"]
    what: str = ""
    lost: dict[str, tuple[str, ...]]
    gained: tuple[str, ...] = ()
    certain: tuple[str, ...] = ()
    p_value: float
    p_holm: float
    fewest: int | None
    worse: bool


class Divergence(Closed):
    """The first decision, counted from 0, at which `left` goes elsewhere than `right` did on a case: the reference, or
    `left` itself when the baseline was blessed. `was` and `now` are where the guards let each go, None where it had
    ended; `what` is the difference in words."""

    case_id: str
    left: str
    right: str
    against: Literal["reference", "baseline"] = "reference"
    decision: int
    was: Choice | None
    now: Choice | None
    what: str


class CaseChange(Closed):
    """Where a case differs from its blessed run, or from that of `reference` where it names a variant: `steps`,
    `decisions`, or `output.` and the path of a field. `was` and `now` are texts, cut where they are long."""

    case_id: str
    variant: str
    what: str
    was: str
    now: str
    reference: Annotated[str, _LEFT_OUT] = ""


class CostChange(Closed):
    """What the candidate costs, per case, on the cases both sides have a value for."""

    name: CostName
    left: str
    right: str
    n: int
    missing: int
    """Cases that the candidate finished and that have no such cost on one of the sides."""
    before: float | None
    """None where the limit is a mean, which no other side is compared with."""
    after: float | None
    limit: CostLimit | None = None
    low: float | None = None
    high: float | None = None
    """95 % interval of `size`; None for fewer than 12 clusters of cases."""

    @property
    def size(self) -> float | None:
        """What the limit is about: `after` itself, or its relative change (0.1 for 10 % more)."""
        if self.before is None:
            return self.after if isinstance(self.limit, float) else None
        return self.after / self.before - 1 if self.before and self.after is not None else None

    @property
    def bound(self) -> float | None:
        """The limit in the unit of `size`."""
        return float(self.limit.rstrip(" %")) / 100 if isinstance(self.limit, str) else self.limit


ReasonKind = Literal[
    "regression",
    "must-pass broken",
    "new hard violation",
    "canary leaked",
    "slice collapsed",
    "cost limit",
    "coverage too low",
    "not comparable",
    "no baseline",
    "failed",
    "unread label",
    "metric lost",
    "different models",
    "nothing to judge",
    "partial run",
    "equivalence not shown",
    "cannot be weighed",
    "changed",
    "note",
]


class Reason(Closed):
    """One fact behind a verdict."""

    kind: ReasonKind
    text: str


class Verdict(Closed):
    """The answer to "did my change make it worse?", with the exit code that says the same."""

    status: Literal["not worse", "worse", "cannot judge", "changed"]
    exit_code: Annotated[int, Field(ge=0, le=3)]
    sentence: str
    reasons: tuple[Reason, ...] = ()


class AcceptedLoss(Closed):
    """Why a run that was worse, or could not be judged, was blessed all the same, and what was worse about it."""

    why: str
    losses: tuple[str, ...]


class Behaviour(Closed):
    """What a trial did: names of its steps in order, those side by side joined by `+`; output fields by their path;
    what routers chose in the decision points."""

    steps: str
    output: dict[str, JsonValue]
    points: Annotated[dict[str, str], _LEFT_OUT] = Field(default_factory=dict)


class BlessedBehaviour(Closed):
    """What later runs are compared with where no label says what is right. `fields` are those the suite names; without,
    all but those in `free_text`."""

    fields: tuple[str, ...] | None
    free_text: tuple[str, ...]
    trials: dict[str, dict[str, dict[int, Behaviour]]]
    """Variant -> case -> sample."""


class Baseline(Sealed):
    """What every variant did when the baseline was last blessed, and the digests that make it comparable."""

    suite: str
    topology: dict[str, str]
    """Variant -> digest of its compiled graph's edges."""
    scorers: str
    files_read: Annotated[dict[str, str], _LEFT_OUT] = Field(default_factory=dict)
    """Path -> digest of each file of the project that scorers read while they scored."""
    cases: dict[str, str]
    cassettes: dict[str, str] = Field(default_factory=dict, exclude_if=lambda value: not value)
    """Case -> digest of its cassette file: as long as it is the same, no answer was recorded anew. Empty in a baseline
    that was blessed before these were kept."""
    prompts: dict[str, str]
    prompt_lines: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Prompt digest -> the lines of the text, so that a later edit can be shown and a review reads it line by line."""
    worker_prompts: dict[str, tuple[str, ...]] = Field(default_factory=dict, exclude_if=lambda value: not value)
    """Path -> lines of the prompts that belong to no variant."""
    values: dict[str, dict[str, dict[str, float]]]
    states: dict[str, dict[str, dict[str, float]]] = Field(default_factory=dict)
    """Variant -> case -> decision point -> grade of the answer."""
    hard_violations: dict[str, dict[str, tuple[str, ...]]]
    leaks: dict[str, tuple[str, ...]]
    routes: dict[str, dict[str, dict[int, str]]] = Field(default_factory=dict)
    """Variant -> case -> sample -> where the guards let each decision go, separated by spaces: one line of the file
    each. Empty in a baseline that was blessed before routes were kept."""
    answered_by: Annotated[dict[str, dict[str, dict[str, tuple[str, ...]]]], _LEFT_OUT] = Field(default_factory=dict)
    """Variant -> agent -> models that answered it -> the cases they answered; no cases are listed for the models that
    answered most of them. Empty in a baseline that was blessed before this was kept."""
    default_prompts: Annotated[dict[str, str], _LEFT_OUT] = Field(default_factory=dict)
    """Supervisor -> version and digest of the prompt that `triage run` gives it by default; empty in older ones."""
    behaviour: Annotated[BlessedBehaviour | None, _LEFT_OUT] = None
    judge: Annotated[dict[str, JsonValue], _LEFT_OUT] = Field(default_factory=dict)
    """What the suite's judge said: an `evals.models.judge.BlessedJudge`; empty where the suite had no judge."""
    accepted: Annotated[AcceptedLoss | None, _LEFT_OUT] = None
    """Set where `evals bless --worse` made the baseline."""


class Run(Tabular):
    """Everything one `evals run` found out."""

    schema_version: Annotated[int, Field(ge=1, le=RUN_SCHEMA)] = RUN_SCHEMA
    suite: str
    description: str
    candidate: str
    reference: str
    gate: GatePolicy
    recorded_by: tuple[str, ...]
    cases: tuple[CaseInfo, ...]
    variants: tuple[VariantInfo, ...]
    scorers: tuple[ScorerInfo, ...]
    trials: tuple[Trial, ...]
    coverage: dict[str, Coverage]
    summaries: tuple[Summary, ...]
    samples: tuple[SampleAgreement, ...] = ()
    redraws: tuple[Redraw, ...] = ()
    measure_infos: tuple[MeasureInfo, ...] = ()
    measures: tuple[Measure, ...] = ()
    confusions: tuple[Confusion, ...] = ()
    calibrations: tuple[Calibration, ...] = ()
    twins: tuple[Twins, ...] = ()
    dataset_baselines: tuple[DatasetBaseline, ...] = ()
    scope: Scope | None = None
    comparisons: tuple[Comparison, ...]
    divergences: tuple[Divergence, ...] = ()
    as_blessed: tuple[str, ...] | None = Field(default=None, exclude_if=lambda value: value is None)
    """As the suite has it."""
    changes: tuple[CaseChange, ...] = Field(default=(), exclude_if=lambda value: not value)
    rule_tests: tuple[RuleTest, ...] = Field(default=(), exclude_if=lambda value: not value)
    """Where hard constraints are newly violated, and slices that collapsed, the gate counting them or not."""
    ablations: tuple[Comparison, ...] = ()
    costs: tuple[CostChange, ...] = Field(default=(), exclude_if=lambda value: not value)
    """What the candidate costs against the reference, and against the limits of `gate.cost`."""
    differences: tuple[str, ...] = Field(default=(), exclude_if=lambda value: not value)
    """Where stored sides are compared: what differs between them besides the variant."""
    edited_prompts: tuple[EditedPrompt, ...] = Field(default=(), exclude_if=lambda value: not value)
    """Edited prompts that all variants share."""
    wants_baseline: bool | None = None
    """Whether it was to be compared with its suite's baseline; None in a run stored before this was kept."""
    unblessed: tuple[str, ...] = ()
    """Why it was not, where a suite was run that has one."""
    verdict: Verdict
    digests: dict[str, str]
    cassettes: dict[str, str] = Field(default_factory=dict, exclude_if=lambda value: not value)
    """Case -> digest of the cassette that answered; empty in a run stored before this was kept."""


Part = TypeVar("Part", bound=Closed)


class SharedParts:
    """The parts of the results that were seen so far. It is dropped when the last result is there."""

    def __init__(self) -> None:
        self._parts: dict[tuple[type, bytes], Closed] = {}
        self._names: dict[tuple[str, ...], tuple[str, ...]] = {}

    def trace(self, trace: Trace) -> Trace:
        """The same trace, of shared parts."""
        parts = {
            "visits": self._all(trace.visits),
            "decisions": self._all(trace.decisions),
            "calls": self._all(trace.calls),
            "points": self._all(trace.points),
            "facts": {name: self._names.setdefault(texts, texts) for name, texts in trace.facts.items()},
            "topology": sys.intern(trace.topology),
        }
        return trace.model_copy(update={name: part for name, part in parts.items() if name in trace.model_fields_set})

    def trial(self, trial: Trial) -> Trial:
        """The same trial, its outcomes shared."""
        outcomes = {sys.intern(name): self._one(outcome) for name, outcome in trial.outcomes.items()}
        reading = self._one(trial.reading) if trial.reading else None
        return trial.model_copy(update={"outcomes": outcomes, "reading": reading})

    def _all(self, parts: Iterable[Part]) -> tuple[Part, ...]:
        return tuple(self._one(part) for part in parts)

    def _one(self, part: Part) -> Part:
        name = type(part), blake2b(part.model_dump_json().encode(), digest_size=16).digest()
        found = self._parts.setdefault(name, part)
        return found if isinstance(found, type(part)) else part

"""Results of `evals drift`, `evals history` and `evals selftest`."""

from datetime import date
from typing import Annotated, Final, Literal

from pydantic import Field

from evals.errors import EXIT_CANNOT_JUDGE, EXIT_WORSE
from evals.models.base import Closed
from evals.models.run import ScorerInfo, Summary

DRIFT_SCHEMA: Final = 1

Count = Annotated[int, Field(ge=0)]
Fraction = Annotated[float, Field(ge=0, le=1)]
Status = Literal["representative", "drifted", "cannot tell"]


class StratumDrawn(Closed):
    """How many requests of an agent are recorded in trials of one variant alone, or of `several`, and how many were
    drawn."""

    agent: str
    variant: str
    recorded: Count
    drawn: Count


class Range(Closed):
    """A value with its 95 % interval, both ends None where nothing varied."""

    value: float
    low: float | None
    high: float | None


class FieldDrift(Closed):
    """One field of one agent's answers over `requests` drawn requests. Of a field that is equal or not, `equal` is the
    share of fresh answers like the recorded ones, `noise` the share of repeats that are like each other, and `change`
    by how much the first is below the second: 0.1 are ten points of all answers. Of `confidence`, `change` is the mean
    shift, fresh minus recorded. `p` is of the exact test, `p_adjusted` to be compared with `level`."""

    agent: str
    field: str
    requests: Count
    equal: Range | None
    noise: Range | None
    change: Range | None
    p: Fraction | None
    p_adjusted: Fraction | None
    level: Fraction
    primary: bool

    @property
    def moved(self) -> bool:
        """Whether it changed by more than chance."""
        return self.p_adjusted is not None and self.p_adjusted <= self.level


class Passage(Closed):
    """Where a trial makes a decision: the n-th request of its supervisor, 0 in a frozen state, off its way."""

    case: str
    variant: str
    step: Count


class Turned(Closed):
    """A decision that is answered otherwise now: what is recorded (the first answer), and each fresh answer. `known`:
    the tape itself has the other answer as a further sample, so chance alone can give it."""

    key: str
    recorded: str
    fresh: tuple[str, ...]
    known: bool
    passages: tuple[Passage, ...]

    @property
    def on_the_way(self) -> tuple[Passage, ...]:
        """Where a trial would go another way."""
        return tuple(passage for passage in self.passages if passage.step)


class AnswerSource(Closed):
    """Who answered, and when (ISO 8601, UTC): the first and the last answer, and answers by model."""

    first: str
    last: str
    models: dict[str, int]


class DriftPrice(Closed):
    """What asking takes: `answers` to `requests`, in tokens as the recording counted them; `usd` is None where a model
    is not in the price table."""

    requests: Count
    answers: Count
    input_tokens: Count
    output_tokens: Count
    usd: Annotated[float, Field(ge=0)] | None
    unpriced: tuple[str, ...]
    prices_as_of: date


class Needed(Closed):
    """What would be enough: decisions, and requests of a whole sample that holds as many; None where the recorded ones
    are too few. `floor` is the disagreement of repeats that was planned with."""

    decisions: Count | None
    sample: Count | None
    floor: Fraction


class DriftVerdict(Closed):
    """The status in one sentence, the reasons behind it, and the exit code."""

    status: Status
    exit_code: int
    sentence: str
    reasons: tuple[str, ...] = ()


class Drift(Closed):
    """One sitting. `precision` is the change of decisions that must not be overlooked, `alpha` the chance of a false
    alarm; `prose` counts recorded requests that are never asked again."""

    schema_version: Annotated[int, Field(ge=1, le=DRIFT_SCHEMA)] = DRIFT_SCHEMA
    suite: str
    seed: int
    precision: Fraction
    alpha: Fraction
    strata: tuple[StratumDrawn, ...]
    prose: Count
    cases: Count
    recorded: AnswerSource
    fresh: AnswerSource
    fields: tuple[FieldDrift, ...]
    turned: tuple[Turned, ...]
    needed: Needed
    asked: DriftPrice
    recording: DriftPrice
    verdict: DriftVerdict

    @property
    def turned_cases(self) -> tuple[str, ...]:
        """The cases a trial of which would go another way."""
        return tuple(sorted({passage.case for turned in self.turned for passage in turned.on_the_way}))


HISTORY_SCHEMA: Final = 2
"""1 also had baselines of merged branches, and a mark of guards alone."""

MarkKind = Literal[
    "prompt", "suite", "graph", "model", "variants", "labels", "dataset", "scorers", "renamed", "gone", "unread"
]
BREAKING: Final[frozenset[MarkKind]] = frozenset({"labels", "dataset", "scorers", "model", "gone", "unread"})
"""What makes a number mean something else than the one before it: no line is drawn across."""


class HistoryMark(Closed):
    """Something that changed since the baseline before, in words; `variants` are those it is about, none for all."""

    kind: MarkKind
    text: str
    variants: tuple[str, ...] = ()


class Flip(Closed):
    """A case whose score of one endpoint changed under one variant; scores are 0 to 1, higher is better. `relabelled`:
    its labels or the scorers changed as well, so it need not be the variant that turned."""

    variant: str
    endpoint: str
    case: str
    was: float
    now: float
    relabelled: bool = False


class Blessing(Closed):
    """A baseline and the commit of the main line that brought it. `summaries` have no bounds: a baseline keeps exact
    trials only. `unread` says why there are none."""

    commit: str
    date: str
    author: str
    subject: str
    path: str
    marks: tuple[HistoryMark, ...]
    summaries: tuple[Summary, ...]
    flips: tuple[Flip, ...]
    unread: str | None = None

    @property
    def goes_on(self) -> bool:
        """Whether its numbers may be joined with those of the baseline before."""
        return not any(mark.kind in BREAKING for mark in self.marks)


class Red(Closed):
    """A case that does not pass in the last baseline, and since when it has not: the commit and how many baselines in a
    row, this one included. `always`: nobody has ever seen it pass. `relabelled` are the commits since then at which its
    labels or the scorers changed."""

    case: str
    variant: str
    endpoint: str
    value: float
    since: str
    date: str
    baselines: Annotated[int, Field(ge=1)]
    always: bool
    relabelled: tuple[str, ...] = ()


class History(Closed):
    """All baselines of a suite, oldest first. `now` is what the last one says: variant -> endpoint -> case -> score.
    `missing` are sentences on what git could not show; `candidate` is the suite's, empty where it is gone."""

    schema_version: Annotated[int, Field(ge=1, le=HISTORY_SCHEMA)] = HISTORY_SCHEMA
    suite: str
    candidate: str
    variants: tuple[str, ...]
    scorers: tuple[ScorerInfo, ...]
    blessings: tuple[Blessing, ...]
    red: tuple[Red, ...]
    now: dict[str, dict[str, dict[str, float]]]
    missing: tuple[str, ...] = ()


class CaseTurn(Closed):
    """What a case scores under a variant now, what it was before it last turned, and `by` which baseline that was. None
    of that where it never turned, as far as baselines tell. `flips` counts turns."""

    variant: str
    endpoint: str
    now: float
    was: float | None = None
    by: Blessing | None = None
    flips: int


SELFTEST_SCHEMA: Final = 1


class PlantedFault(Closed):
    """One fault and the gate's answer; `exit_code` is None where the fault changes no trace: nothing to catch."""

    name: str
    what: str
    said: str
    exit_code: Annotated[int, Field(ge=0, le=3)] | None

    @property
    def caught(self) -> Literal["yes", "NO", "nothing to catch"]:
        """Red and unjudgeable both count: neither lets the change through."""
        if self.exit_code is None:
            return "nothing to catch"
        return "yes" if self.exit_code in (EXIT_WORSE, EXIT_CANNOT_JUDGE) else "NO"


class RedRate(Closed):
    """How often the gate was red, of `draws` comparisons of `cases` cases with `flips` planted losses.

    `outcomes` says whether the cases were generated or drawn from the recorded repeats of the suite; `planted`, what
    was spoilt in the cases that were lost. `low` and `high` are a 95 % interval; None where the model knows no chance,
    so that one draw says it all.
    """

    cases: int
    flips: int
    churn: float
    red: int
    draws: Annotated[int, Field(ge=1)]
    low: float | None
    high: float | None
    outcomes: Literal["generated", "recorded repeats"] = "generated"
    planted: Literal["routes", "hard constraints"] = "routes"

    def above(self, alpha: float) -> bool:
        """Whether the draws cannot be those of a rate of at most `alpha`; exact tests stay below it."""
        return self.low is not None and self.low > alpha


class SelfTest(Closed):
    """Everything one `evals selftest` found out.

    All but `unlike` of `total` traces of the reference are the same when replayed again (each names its case and, if it
    failed, why); `rates` hold the power curve and, with `flips` 0, the false alarms.
    """

    schema_version: int = SELFTEST_SCHEMA
    suite: str
    candidate: str
    reference: str
    alpha: float
    faults: tuple[PlantedFault, ...]
    unlike: tuple[str, ...]
    total: int
    rates: tuple[RedRate, ...]

    @property
    def alarms(self) -> tuple[RedRate, ...]:
        """The rates of false alarms: nothing is planted, and outcomes turn round by themselves."""
        return tuple(rate for rate in self.rates if not rate.flips and rate.churn)

    @property
    def complaints(self) -> tuple[str, ...]:
        """What the gate does not do; empty if it does what it says."""
        missed = [f"{fault.name} is not caught" for fault in self.faults if fault.caught == "NO"]
        unlike = [f"replayed again, {one}" for one in self.unlike]
        loud = [
            f"too many false alarms over {rate.cases} cases ({rate.outcomes})"
            for rate in self.alarms
            if rate.above(self.alpha)
        ]
        return (*missed, *unlike, *loud)

    @property
    def sentence(self) -> str:
        """The one line a reader needs."""
        caught = sum(fault.caught == "yes" for fault in self.faults)
        met = sum(fault.exit_code is not None for fault in self.faults)
        if self.complaints:
            return f"The gate of suite {self.suite} does not do what it says: {'; '.join(self.complaints)}."
        return (
            f"The gate of suite {self.suite} does what it says: "
            f"{caught} of {met} planted faults that change anything are caught."
        )

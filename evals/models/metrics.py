"""Outcomes of scorers, and metrics of a variant over all its cases."""

from typing import Annotated, Final, Literal

from pydantic import Field

from evals.models.base import Closed
from evals.models.case import Choice

LARGEST: Final = 1e15
"""No value is larger: sums and squares of such values are finite, and whole numbers up to it are exact."""


class Scored(Closed):
    """The scorer gave a value."""

    kind: Literal["scored"] = "scored"
    value: float


class Skipped(Closed):
    """The score does not apply, or the trial is not exact; `reason` says which."""

    kind: Literal["skipped"] = "skipped"
    reason: str


class Failed(Closed):
    """The scorer or the trial broke. The gate sees this, and it is never green."""

    kind: Literal["failed"] = "failed"
    error: str


Outcome = Annotated[Scored | Skipped | Failed, Field(discriminator="kind")]


Fraction = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]

MeasureUnit = Literal["fraction", "kappa", "difference"]
Counted = Literal["trials", "cases", "frozen states", "pairs"]
Source = Literal["supervisor", "report"]


class MeasureInfo(Closed):
    """A measure as the report explains it; `counted` says what `n` and `of` count."""

    name: str
    unit: MeasureUnit
    better: Literal["higher", "lower"]
    counted: Counted
    definition: str


class Measure(Closed):
    """One measure of one variant. `low` and `high` are a 95 % interval; `pessimistic` and `optimistic` take everything
    off the tape as worst and as best, where that is possible; `null_low` and `null_high` hold what chance alone gives.

    `why_not` says why there is no value; it is empty where there is one.
    """

    variant: str
    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: Count
    of: Count
    pessimistic: float | None = None
    optimistic: float | None = None
    null_low: float | None = None
    null_high: float | None = None
    why_not: str = ""


class ConfusionCell(Closed):
    """How often `column` was said where `row` stood; `credit` is the sum of the grades the labels give for it."""

    row: Choice
    column: Choice
    count: Annotated[int, Field(ge=1)]
    credit: Annotated[float, Field(ge=0)]


class Confusion(Closed):
    """Decisions of a variant, counted by what they should have been.

    `frozen states`: the best graded node (row) by the node chosen (column), overrides left out. `trials`: the node
    chosen (row) by the node the graph went to (column), in exact trials; `of` are the recorded decisions of all trials,
    as nobody knows how many those off the tape would have come to. Cells without a count are left out.
    """

    variant: str
    decisions: Literal["frozen states", "trials"]
    cells: tuple[ConfusionCell, ...]
    n: Count
    of: Count


class ReliabilityBin(Closed):
    """Answers with a confidence from `low` up to `high`, the last bin closed; the interval is that of the share that is
    right."""

    low: Fraction
    high: Fraction
    n: Count
    correct: Count
    mean_confidence: Fraction | None
    accuracy_low: Fraction | None
    accuracy_high: Fraction | None


class ThresholdPoint(Closed):
    """Of `n` answers, the `covered` ones have a confidence of at least `threshold`, and `correct` of those are right;
    the interval is that of a rate, of correct / covered."""

    threshold: Fraction
    covered: Count
    n: Count
    correct: Count
    low: Fraction | None
    high: Fraction | None


class Calibration(Closed):
    """Whether a variant's stated confidence can be believed, over `n` answers of `of` trials.

    `thresholds` are those people set (0.5 to 0.95); `risk_coverage` has a point per distinct confidence, highest first.
    """

    variant: str
    source: Source
    n: Count
    of: Count
    bins: tuple[ReliabilityBin, ...]
    thresholds: tuple[ThresholdPoint, ...]
    risk_coverage: tuple[ThresholdPoint, ...]


class Twins(Closed):
    """Cases that say the same in other words, under one variant and endpoint. `values` go with `cases`, None where one
    is not scored; `consistent` is None until all are."""

    pair_id: str
    variant: str
    endpoint: str
    cases: tuple[str, ...]
    slices: tuple[str, ...]
    values: tuple[float | None, ...]
    consistent: bool | None


class PassHat(Closed):
    """pass^k of a pass-or-fail score over `cases` all of whose samples are scored: the chance that k samples of a case
    all pass. `values` are for k = 1, 2, ...; empty without a case."""

    endpoint: str
    cases: int
    values: tuple[Annotated[float, Field(ge=0, le=1)], ...]


class RepeatAgreement(Closed):
    """Of `of` questions that every sample answered, `agreed` were answered alike by all."""

    agreed: int
    of: int


class SampleAgreement(Closed):
    """What the samples of a variant say together. `decisions` are its frozen states, `routes` its cases."""

    variant: str
    samples: int
    pass_hat: tuple[PassHat, ...]
    decisions: RepeatAgreement
    routes: RepeatAgreement


class Redraw(Closed):
    """What the comparison of candidate and reference would have said of an endpoint with one sample a side: verdict ->
    in how many of the `draws`."""

    endpoint: str
    draws: int
    verdicts: dict[str, int]

"""What is said of a variant as a whole, where no case has a value of its own: agreement, calibration, twins, confusion.

Counts are stored, and beside them what they rest on: `n` is what a number was made of, `of` what it would be made of
with everything on the tape.
"""

from typing import Annotated, Literal

from pydantic import Field

from evals.models.case import Archetype
from evals.models.closed import Closed
from evals.models.route import Choice

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

    `frozen states`: the best graded node (row) by the node chosen (column), guards left out. `trials`: the node chosen
    (row) by the node the guards let the graph go to (column), in exact trials; `of` are the recorded decisions of all
    trials, as nobody knows how many those off the tape would have come to. Cells without a count are left out.
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
    archetypes: tuple[Archetype, ...]
    values: tuple[float | None, ...]
    consistent: bool | None

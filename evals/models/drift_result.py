"""The result of `evals drift`."""

from datetime import date
from typing import Annotated, Final, Literal

from pydantic import Field

from evals.models.base import Closed

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

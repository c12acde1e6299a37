"""Results of `evals selftest` and `evals sweep`."""

from typing import Annotated, Final, Literal

from pydantic import Field

from evals.errors import EXIT_CANNOT_JUDGE, EXIT_WORSE
from evals.models.base import Closed
from evals.models.case import Split
from evals.models.run import Comparison, Coverage, Summary
from evals.models.suite import ConfidenceFloorSetting

SELFTEST_SCHEMA: Final = 1
CHOSEN_ON: Final[Split] = "tune"
"""The cases on which a sweep chooses a setting."""
CONFIRMED_ON: Final[Split] = "gate"
"""The cases on which it confirms the choice."""


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
            return f"The gate of {self.suite} does not do what it says: {'; '.join(self.complaints)}."
        return (
            f"The gate of {self.suite} does what it says: "
            f"{caught} of {met} planted faults that change anything are caught."
        )


SWEEP_SCHEMA: Final = 1


class GridPoint(Closed):
    """One setting: a guard set, and the thresholds of the `confidence_floor` guard (None: the guard is off)."""

    guards: str
    floor: ConfidenceFloorSetting | None = None

    @property
    def name(self) -> str:
        """Short and unique: `hardened off`, `hardened 0.85/0.70/2` (single, corroborated, findings)."""
        floor = self.floor
        return (
            f"{self.guards} {floor.single:.2f}/{floor.corroborated:.2f}/{floor.min_findings}"
            if floor
            else f"{self.guards} off"
        )


class SplitSummary(Closed):
    """What one behaviour comes to on the cases of one split; means are over its exact trials, None where there is none.

    `score` has its interval and the bounds for what is not recorded; visits, questions, vetoes, model calls and tokens
    are per trial.
    """

    coverage: Coverage
    score: Summary
    visits: float | None
    questions: float | None
    vetoes: float | None
    llm_calls: float | None
    tokens: float | None

    @property
    def share(self) -> float:
        """The share of trials that are exact; 0 if there is no trial."""
        return self.coverage.exact / self.coverage.total if self.coverage.total else 0.0


class Behaviour(Closed):
    """Points that give the very same trace in every case, as one: `name` is the first of them."""

    name: str
    points: tuple[GridPoint, ...]
    splits: dict[Split, SplitSummary]


class Recommendation(Closed):
    """Where to work: chosen on `tune`, confirmed on `gate`. `comparison` is the choice against the present setting,
    on `gate`; both are None where nothing could be chosen."""

    status: Literal["recommended", "not confirmed", "cannot recommend"]
    exit_code: Annotated[int, Field(ge=0, le=3)]
    sentence: str
    behaviour: str | None = None
    comparison: Comparison | None = None


class Sweep(Closed):
    """Everything one `evals sweep` found out. `front` names the behaviours no other one beats on `tune`, in both
    score and model calls; `executed` counts the trials that had to be run or read, out of `points` x `cases`."""

    schema_version: int = SWEEP_SCHEMA
    suite: str
    variant: str
    present: str
    score: str
    coverage_floor: float
    recorded_by: tuple[str, ...]
    cases: dict[Split, int]
    points: Annotated[int, Field(ge=1)]
    executed: int
    behaviours: tuple[Behaviour, ...]
    front: tuple[str, ...]
    recommendation: Recommendation

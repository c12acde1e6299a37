"""Result of `evals selftest`."""

from typing import Annotated, Final, Literal

from pydantic import Field

from evals.errors import EXIT_CANNOT_JUDGE, EXIT_WORSE
from evals.models.base import Closed

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

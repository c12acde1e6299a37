"""Result of `evals sweep`."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import BaseModel, Field

from evals.models.base import Closed
from evals.models.case import Split
from evals.models.run import Comparison, Coverage, Summary
from evals.triage.variant_settings import ConfidenceFloorSetting

CHOSEN_ON: Final[Split] = "tune"
"""The cases on which a sweep chooses a setting."""
CONFIRMED_ON: Final[Split] = "gate"
"""The cases on which it confirms the choice."""
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


WRITTEN: Final[Mapping[str, type[BaseModel]]] = {"sweep": Sweep}
"""What `evals schema` describes of this package's own files."""

"""What became of one score of one trial: three types, never a float with a special value."""

from typing import Annotated, Literal

from pydantic import Field

from evals.models.closed import Closed


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

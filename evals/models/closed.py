"""The ground every value stands on."""

from pydantic import BaseModel, ConfigDict


class Closed(BaseModel):
    """Frozen, closed to unknown keys, and without NaN or infinity."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, populate_by_name=True)

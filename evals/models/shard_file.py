"""The traces of one shard of a run."""

from typing import Annotated, Final

from pydantic import Field

from evals.models.base import Closed, Sealed
from evals.models.trace import Trace

SHARD_SCHEMA: Final = 3
"""3 has changed settings as a mapping."""


class SuiteSelection(Closed):
    """How the command line named, narrowed and changed the suite; `dataset` is the folder as it was typed."""

    suite: str
    settings: dict[str, str | int] = Field(default_factory=dict)
    cases: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    dataset: str | None = None
    open_holdout: str | None = None
    samples: int | None = None


class Shard(Sealed):
    """Share `number` of `of` of what was asked for.

    `rests_on` holds a digest of each thing the traces depend on, and `traces` the traces by what they are stored under.
    Nothing is scored or judged yet.
    """

    schema_version: Annotated[int, Field(ge=1, le=SHARD_SCHEMA)] = SHARD_SCHEMA
    asked: SuiteSelection
    number: Annotated[int, Field(ge=1)]
    of: Annotated[int, Field(ge=1)]
    rests_on: dict[str, str]
    traces: dict[str, Trace]

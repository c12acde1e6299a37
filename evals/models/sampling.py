"""What several samples of every case say together."""

from typing import Annotated

from pydantic import Field

from evals.models.closed import Closed


class PassHat(Closed):
    """pass^k of a pass-or-fail score over `cases` all of whose samples are scored: the chance that k samples of a case
    all pass. `values` are for k = 1, 2, ...; empty without a case."""

    endpoint: str
    cases: int
    values: tuple[Annotated[float, Field(ge=0, le=1)], ...]


class Agreement(Closed):
    """Of `of` questions that every sample answered, `agreed` were answered alike by all."""

    agreed: int
    of: int


class SampleAgreement(Closed):
    """What the samples of a variant say together. `decisions` are its frozen states, `routes` its cases."""

    variant: str
    samples: int
    pass_hat: tuple[PassHat, ...]
    decisions: Agreement
    routes: Agreement


class Redraw(Closed):
    """What the comparison of candidate and reference would have said of an endpoint with one sample a side: verdict ->
    in how many of the `draws`."""

    endpoint: str
    draws: int
    verdicts: dict[str, int]

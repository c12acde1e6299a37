"""What was asked of an endpoint: one record for each request that was answered, and for each that was not."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Call:
    """One answered request: tokens as the endpoint counted them (0 if it did not), seconds until it was there."""

    agent: str
    model: str
    tokens_in: int
    tokens_out: int
    seconds: float


@dataclass(frozen=True)
class Refusal:
    """One request without an answer: `why` is an HTTP status or the kind of failure. The tokens are those it may have
    cost all the same, 0 where the endpoint said no."""

    agent: str
    model: str
    why: str
    tokens_in: int = 0
    tokens_out: int = 0

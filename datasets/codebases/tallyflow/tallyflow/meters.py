"""What is known about a meter apart from its readings."""

from __future__ import annotations

from dataclasses import dataclass

KINDS = ("register", "amount", "level")


@dataclass(frozen=True)
class Meter:
    """A register counts up for ever, an amount is what passed since the last reading, a level is a state.

    `ratio` is what the transformers in front of the meter divide by; `digits` is how many places its counter has
    before the decimal point, and 0 where that is not known.
    """

    name: str
    site: str
    unit: str = "kWh"
    kind: str = "register"
    ratio: float = 1.0
    digits: int = 0

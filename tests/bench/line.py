"""One line of the table: what was measured, beside what it should be."""

from dataclasses import asdict, dataclass
from typing import Any, Self


@dataclass(frozen=True)
class Line:
    """`met` is None where there is no goal, or nothing to measure."""

    what: str
    goal: str
    measured: str
    met: bool | None
    floor: str = ""
    """What stands in the way where the goal is not met: the top lines of a profile."""

    def __str__(self) -> str:
        return f"{self.what}: {self.measured} (goal: {self.goal or 'none'}; {self.verdict})"

    @property
    def verdict(self) -> str:
        """In words."""
        return {True: "met", False: "NOT MET", None: "no goal here"}[self.met]

    def stored(self) -> dict[str, Any]:
        """As it is kept between runs."""
        return asdict(self)

    @classmethod
    def of(cls, stored: dict[str, Any]) -> Self:
        """As it was kept."""
        return cls(**stored)

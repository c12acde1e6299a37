"""Months, the periods books are kept in."""

from dataclasses import dataclass
from datetime import date, timedelta

from ledgerline.errors import LedgerlineError


@dataclass(frozen=True, order=True)
class Month:
    """A calendar month."""

    year: int
    number: int

    @classmethod
    def of(cls, day: date) -> "Month":
        """The month a day lies in."""
        return cls(day.year, day.month)

    @classmethod
    def parse(cls, text: str) -> "Month":
        """`2026-03`. Raises LedgerlineError."""
        try:
            first = date.fromisoformat(f"{text}-01")
        except ValueError:
            raise LedgerlineError(f"{text!r} is not a month; write it like 2026-03") from None
        return cls.of(first)

    @property
    def first(self) -> date:
        """Its first day."""
        return date(self.year, self.number, 1)

    @property
    def last(self) -> date:
        """Its last day."""
        return self.next.first - timedelta(days=1)

    @property
    def next(self) -> "Month":
        """The month after it."""
        return Month(self.year + 1, 1) if self.number == 12 else Month(self.year, self.number + 1)

    def __contains__(self, day: date) -> bool:
        return Month.of(day) == self

    def __str__(self) -> str:
        return f"{self.year:04d}-{self.number:02d}"

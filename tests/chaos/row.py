"""What was tried and what of it was against the promise: one line of the table of `python -m tests.chaos`."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """`tried` attempts at `what`, of which so many ended `against` what docs/reliability.md says; where it promises
    nothing, they are counted all the same."""

    what: str
    tried: int
    against: int
    promised: bool = True

    @property
    def is_broken(self) -> bool:
        """A promise that was not kept; one that nothing put to the test was not kept either."""
        return self.promised and (self.against > 0 or self.tried == 0)


def table(rows: Iterable[Row]) -> str:
    """The rows as Markdown."""
    lines = [f"| {row.what} | {row.tried:,} | {row.against:,} | {'0' if row.promised else 'nothing'} |" for row in rows]
    return "\n".join(["| | tried | against it | promised |", "|---|---:|---:|---:|", *lines])

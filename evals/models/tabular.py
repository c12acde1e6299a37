"""A run as pandas tables, and as a notebook shows it."""

from html import escape
from typing import TYPE_CHECKING

from evals.models.base import Sealed

if TYPE_CHECKING:
    import pandas as pd

    from evals.models.run import Run


class Tabular(Sealed):
    """What gives its trials as rows."""

    def frame(self: "Run", rows: str = "scores", *, by_decision: bool = False) -> "pd.DataFrame":  # type: ignore[misc]  # there is but one
        """A row per score, or per decision, step or call (`rows`); columns as in `evals.report.data_frames`."""
        from evals.report.data_frames import frame  # noqa: PLC0415 - pandas waits until a table is asked for

        return frame(self, "decisions" if by_decision else rows)

    def __repr__(self: "Run") -> str:  # type: ignore[misc]  # as above
        sides = f"{self.candidate} against {self.reference}"
        return f"<Run {self.suite}: {sides}, {len(self.trials)} trials, {self.verdict.status}>"

    __str__ = __repr__

    def _repr_html_(self: "Run") -> str:  # type: ignore[misc]  # as above
        return f"<b>{escape(self.verdict.sentence)}</b><p>{escape(repr(self))}</p>"

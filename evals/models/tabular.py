"""A run as pandas tables."""

from typing import TYPE_CHECKING

from evals.models.base import Sealed

if TYPE_CHECKING:
    import pandas as pd

    from evals.models.run import Run


class Tabular(Sealed):
    """What gives its trials as rows."""

    def frame(self: "Run", *, by_decision: bool = False) -> "pd.DataFrame":  # type: ignore[misc]  # there is but one
        """A row per trial and score, or per decision of the supervisor; columns as in `evals.report.data_frames`."""
        from evals.report.data_frames import decisions, frame  # noqa: PLC0415 - pandas waits until a table is asked for

        return decisions(self) if by_decision else frame(self)

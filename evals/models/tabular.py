"""A run as tables of pandas, for notebooks: the one model that asks for what is above it, once it is called."""

from typing import TYPE_CHECKING

from evals.models.sealed import Sealed

if TYPE_CHECKING:
    import pandas as pd

    from evals.models.run import Run


class Tabular(Sealed):
    """What gives its trials as rows."""

    def frame(self: "Run", *, by_decision: bool = False) -> "pd.DataFrame":  # type: ignore[misc]  # there is but one
        """A row per trial and score, or per decision of the supervisor; columns as in `evals.export.frame`."""
        from evals.export.frame import decisions, frame  # noqa: PLC0415 - pandas waits until a table is asked for

        return decisions(self) if by_decision else frame(self)

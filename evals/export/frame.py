"""A run as a table, for notebooks: one row per trial and score."""

import pandas as pd

from evals.models.outcome import Failed, Scored, Skipped
from evals.models.run import Run


def frame(run: Run) -> pd.DataFrame:
    """Columns: suite, case, variant, sample, provenance, scorer, outcome, value (NaN unless scored), why."""
    rows = [
        {
            "suite": run.suite,
            "case": trial.trace.case_id,
            "variant": trial.trace.variant,
            "sample": trial.trace.sample,
            "provenance": str(trial.trace.provenance),
            "scorer": scorer,
            "outcome": outcome.kind,
            "value": outcome.value if isinstance(outcome, Scored) else float("nan"),
            "why": _why(outcome),
        }
        for trial in run.trials
        for scorer, outcome in trial.outcomes.items()
    ]
    return pd.DataFrame(rows)


def _why(outcome: Scored | Skipped | Failed) -> str:
    match outcome:
        case Skipped(reason=reason):
            return reason
        case Failed(error=error):
            return error
        case _:
            return ""

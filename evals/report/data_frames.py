"""A run as rows for data frames: trials and decisions."""

from typing import Final

import pandas as pd

from evals.models.metrics import Failed, Scored, Skipped
from evals.models.run import Run

SCORES: Final = ("suite", "case", "variant", "sample", "provenance", "scorer", "outcome", "value", "why")
DECISIONS: Final = (
    *SCORES[:5],
    *("decision", "iteration", "chosen", "routed", "confidence", "vetoes"),
    *("forced_fallback", "corrections", "question", "error"),
)
"""The columns, which a table without rows has too."""


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
    return pd.DataFrame(rows, columns=SCORES)


def decisions(run: Run) -> pd.DataFrame:
    """Columns: suite, case, variant, sample, provenance, decision, iteration, chosen, routed, confidence, vetoes,
    forced_fallback, corrections, question, error. `vetoes` are guards with commas between; a missing text is empty."""
    rows = [
        {
            "suite": run.suite,
            "case": trial.trace.case_id,
            "variant": trial.trace.variant,
            "sample": trial.trace.sample,
            "provenance": str(trial.trace.provenance),
            "decision": made.index,
            "iteration": made.iteration,
            "chosen": made.chosen,
            "routed": made.routed,
            "confidence": made.confidence,
            "vetoes": ",".join(veto.guard for veto in made.vetoes),
            "forced_fallback": made.forced_fallback,
            "corrections": made.corrections,
            "question": made.question or "",
            "error": made.error or "",
        }
        for trial in run.trials
        for made in trial.trace.decisions
    ]
    return pd.DataFrame(rows, columns=DECISIONS)


def _why(outcome: Scored | Skipped | Failed) -> str:
    match outcome:
        case Skipped(reason=reason):
            return reason
        case Failed(error=error):
            return error
        case _:
            return ""

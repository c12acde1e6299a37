"""Runs as rows for data frames: scores, decisions, steps or calls of their trials."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from evals.errors import ConfigurationError, nearest_name
from evals.models.metrics import Failed, Scored, Skipped
from evals.models.run import Run, Trial

Row = Mapping[str, Any]
_TRIAL: Final = ("suite", "case", "variant", "sample", "provenance")
_SAME: Final = ("iteration", "chosen", "routed", "confidence", "forced_fallback", "corrections")
_CALL: Final = ("agent", "key", "model", "prompt_tokens", "completion_tokens", "latency_ms", "recorded_by")


def frame(runs: Run | Sequence[Run], rows: str = "scores") -> pd.DataFrame:
    """One table of a run, or of several with the number of the run, from 0, as first column.

    Every row begins with suite, case, variant, sample and provenance. A table without rows has the columns too.

    The rows are `scores` (value is NaN unless scored), `decisions` (`overrides` are rules with commas between), `steps`
    or `calls` (requests that were served). Raises ConfigurationError for other rows, and for what is no run.
    """
    if rows not in _KINDS:
        raise ConfigurationError(f"no rows {rows!r}; choose {', '.join(_KINDS)}{nearest_name(rows, _KINDS)}")
    several = [*runs] if isinstance(runs, Iterable) and not isinstance(runs, Run) else [runs]
    if others := [each for each in several if not isinstance(each, Run)]:
        raise ConfigurationError(f"frame: {others[0]!r:.60} is no run; `read_run` reads a run.json")
    columns, made = _KINDS[rows]
    table = [
        {
            "run": number,
            "suite": run.suite,
            "case": trial.trace.case_id,
            "variant": trial.trace.variant,
            "sample": trial.trace.sample,
            "provenance": str(trial.trace.provenance),
            **row,
        }
        for number, run in enumerate(several)
        for trial in run.trials
        for row in made(trial)
    ]
    return pd.DataFrame(table, columns=[*(() if isinstance(runs, Run) else ("run",)), *_TRIAL, *columns])


def _scores(trial: Trial) -> Iterator[Row]:
    for scorer, outcome in trial.outcomes.items():
        value = outcome.value if isinstance(outcome, Scored) else float("nan")
        yield {"scorer": scorer, "outcome": outcome.kind, "value": value, "why": _why(outcome)}


def _decisions(trial: Trial) -> Iterator[Row]:
    for made in trial.trace.decisions:
        yield {
            "decision": made.index,
            **{name: getattr(made, name) for name in _SAME},
            "overrides": ",".join(each.rule for each in made.overrides),
            "question": made.question or "",
            "error": made.error or "",
        }


def _steps(trial: Trial) -> Iterator[Row]:
    for number, visit in enumerate(trial.trace.visits):
        row = {"step": number, "node": visit.node, "superstep": visit.superstep}
        yield {**row, "findings": len(visit.findings), "error": visit.error or ""}


def _calls(trial: Trial) -> Iterator[Row]:
    for number, call in enumerate(trial.trace.calls):
        yield {"call": number, **call.model_dump(include=set(_CALL)), "recorded_by": call.recorded_by or ""}


def _why(outcome: Scored | Skipped | Failed) -> str:
    match outcome:
        case Skipped(reason=reason):
            return reason
        case Failed(error=error):
            return error
        case _:
            return ""


_KINDS: Final[Mapping[str, tuple[tuple[str, ...], Callable[[Trial], Iterator[Row]]]]] = {
    "scores": (("scorer", "outcome", "value", "why"), _scores),
    "decisions": (("decision", *_SAME, "overrides", "question", "error"), _decisions),
    "steps": (("step", "node", "superstep", "findings", "error"), _steps),
    "calls": (("call", *_CALL), _calls),
}
"""Kind of rows -> its columns after those of the trial, and what makes them."""

"""`trace.json`: what a job did, over all its sittings, as far as it has come."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from triage.checkpoints import JobSaver
from triage.history import history
from triage.kept_calls import kept_calls
from triage.plans import plan_header
from triage.prices import cost_usd
from triage.shelf import StoredJob, read_job
from triage.trace import call_data, trace_of

FILE: Final = "trace.json"
SCHEMA: Final = 1


async def write_trace(jobs: JobSaver, name: str, folder: Path, names: Mapping[str, str]) -> None:
    """Write what is stored of the job `name`, if anything is, to the folder; `names` says what places in the code are
    called.

    Raises:
        CheckpointError: what is stored cannot be read.
    """
    job = await read_job(jobs, name)
    if not isinstance(job, StoredJob):
        return
    path = folder / FILE
    path.write_text(json.dumps(await _data(jobs, job, names), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


async def _data(jobs: JobSaver, job: StoredJob, names: Mapping[str, str]) -> dict[str, Any]:
    """The trace (under `trace`, in the run format of `evals`) with what that format has no place for: what the job
    runs with, what it took, and the telemetry of the `rules` supervisor."""
    calls = await kept_calls(jobs.conn, job.name)
    unfinished = job.standing if job.waiting or job.coming else None
    return {
        "schema": SCHEMA,
        "job": job.name,
        "runs_with": job.options.metadata(),
        "took": {
            "visits": len(job.state.visits),
            "calls": len(calls),
            "tokens_in": sum(call.tokens_in for call in calls),
            "tokens_out": sum(call.tokens_out for call in calls),
            "cost_usd": cost_usd(calls),
            "seconds": round(sum(call.seconds for call in calls), 3),
        },
        "plan": plan_header(job.options.plan) if job.options.plan else None,
        "rules": job.state.model_dump(mode="json", include={"decision_events", "retry_reasons"}),
        "trace": {
            **trace_of(job.name, await history(jobs, job.name), job.state, names),
            "calls": [call_data(call) for call in calls],
            "provenance": {"label": "failed" if unfinished else "exact"},
            "error": unfinished,
        },
    }

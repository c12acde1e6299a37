"""`trace.json`: what a job did, over all its sittings, as far as it has come."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from triage.checkpoints import JobSaver
from triage.history import history
from triage.kept_calls import kept_calls, kept_refusals
from triage.plans import plan_header
from triage.prices import cost_usd
from triage.private_files import write_private
from triage.shelf import StoredJob, read_job
from triage.trace import call_data, trace_of

FILE: Final = "trace.json"
SCHEMA: Final = 1


async def write_trace(jobs: JobSaver, name: str, folder: Path, names: Mapping[str, str]) -> Path | None:
    """Write what is stored of the job `name` to the folder; returns the file, None if nothing is stored yet. `names`
    says what places in the code are called.

    Raises:
        CheckpointError: what is stored cannot be read.
    """
    job = await read_job(jobs, name)
    if not isinstance(job, StoredJob):
        return None
    path = folder / FILE
    write_private(path, json.dumps(await _data(jobs, job, names), indent=1, ensure_ascii=False) + "\n")
    return path


async def _data(jobs: JobSaver, job: StoredJob, names: Mapping[str, str]) -> dict[str, Any]:
    """The trace (under `trace`, in the run format of `evals`) with what that format has no place for: what the job
    runs with, what it took, which requests were refused or lost (and asked again, or not), and the telemetry of the
    `rules` supervisor."""
    calls = await kept_calls(jobs.conn, job.name)
    unanswered = Counter((found.agent, found.why) for found in await kept_refusals(jobs.conn, job.name))
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
        "unanswered": [{"agent": agent, "why": why, "times": n} for (agent, why), n in unanswered.items()],
        "plan": plan_header(job.options.plan) if job.options.plan else None,
        "rules": job.state.model_dump(mode="json", include={"decision_events", "retry_reasons"}),
        "trace": {
            **trace_of(job.name, await history(jobs, job.name), job.state, names),
            "calls": [call_data(call) for call in calls],
            "provenance": {"label": "failed" if unfinished else "exact"},
            "error": unfinished,
        },
    }

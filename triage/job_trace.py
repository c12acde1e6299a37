"""The trace of a job (`trace.json`)."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from triage.checkpoints import JobSaver
from triage.errors import PromptError
from triage.job_budget import AnsweredRequest, Refusal, cost_usd
from triage.job_model_requests import kept
from triage.plans.plan_files import edges, plan_header
from triage.private_files import write_private
from triage.prompts.load import SupervisorPrompt, load_supervisor_prompt
from triage.state import BugTriageState, TaskItem
from triage.stored_jobs import Changes, JobStep, StoredJob, decided, history, read_job
from triage.supervisor_context import supervisor_context

_SHOWN: Final = {"task_id", "objective", "capability", "dependencies", "status", "attempts", "is_final", "guidance"}


def trace_of(name: str, steps: Sequence[JobStep], state: BugTriageState, names: Mapping[str, str]) -> dict[str, Any]:
    """The trace of the job `name`, which stands at `state`, but for its calls and how it ended."""
    worked = [(n, changes) for n, step in enumerate(steps) for changes in step.changes if not decided(changes)]
    asked = [exchange for exchange in state.human_exchanges if exchange.answer is not None]
    return {
        "case_id": name,
        "variant": steps[-1].options.supervisor if steps else "",
        "sample": 0,
        "visits": [visit_data(changes["visits"][0], n, changes, names) for n, changes in worked],
        "decisions": _decisions(steps),
        "exchanges": [{**exchange.model_dump(), "topic": None} for exchange in asked],
        "output": output_data(state),
        "plan": plan_data(state.plan) if state.plan else None,
    }


def decision_data(
    index: int, before: BugTriageState, changes: Changes, prompt: SupervisorPrompt | None
) -> dict[str, Any]:
    """One decision of the supervisor, made in the state `before`; `changes` is the update of its node."""
    pending = changes.get("pending_exchange")
    errors = changes.get("supervisor_errors") or ()
    return {
        "index": index,
        "iteration": before.iterations,
        "context": changes.get("briefing") or (supervisor_context(before, prompt) if prompt else ""),
        "chosen": changes["next_node"],
        "routed": changes["routed_node"],
        "reasoning": changes["supervisor_reasoning"],
        "confidence": changes.get("supervisor_confidence", before.supervisor_confidence),
        "question": pending.question if pending else None,
        "overrides": [
            {"rule": veto.guard, "chosen": veto.chosen, "send_to": veto.send_to} for veto in changes.get("vetoes", ())
        ],
        "forced_fallback": changes.get("forced_fallback", False),
        "corrections": changes.get("corrections", 0),
        "error": errors[0].error if errors else None,
        "tasks": list(changes.get("selected_tasks", ())),
    }


def visit_data(node: str, superstep: int, changes: Changes, names: Mapping[str, str]) -> dict[str, Any]:
    """One visit of the worker `node`; `names` says what each place it has read is called."""
    tasks, errors = changes.get("plan") or (), changes.get("agent_errors") or ()
    return {
        "node": node,
        "superstep": superstep,
        "reviews": tasks[0].task_id if tasks and tasks[0].capability != node else None,
        "read": list(dict.fromkeys(names.get(place, place) for place in changes.get("places_read", ()))),
        "places": list(changes.get("places_read", ())),
        "findings": [finding.model_dump(mode="json") for finding in changes.get("findings", ())],
        "error": errors[0].error if errors else None,
    }


def plan_data(tasks: Sequence[TaskItem]) -> dict[str, Any]:
    """The tasks of a plan as they were left, and what waits for what."""
    shown = [
        {
            **task.model_dump(mode="json", include=_SHOWN),
            "result": task.result.summary if task.result else None,
            "feedback": task.feedback.verdict if task.feedback else None,
            "history": [event.model_dump() for event in task.history],
        }
        for task in tasks
    ]
    return {"tasks": shown, "edges": [list(edge) for edge in edges(tasks)]}


def output_data(state: BugTriageState) -> dict[str, Any]:
    """What the job wrote: the members of its report, `comment` and `ticket`, without what is not there."""
    parts = {"comment": state.comment, "ticket": state.ticket and state.ticket.model_dump(mode="json")}
    report = state.report.model_dump(mode="json") if state.report else {}
    return {**report, **{name: part for name, part in parts.items() if part}}


def call_data(call: AnsweredRequest) -> dict[str, Any]:
    """One answered call, its time in milliseconds; a live one has no tape, and no key on it."""
    return {
        "agent": call.agent,
        "key": "",
        "model": call.model,
        "prompt_tokens": call.tokens_in,
        "completion_tokens": call.tokens_out,
        "latency_ms": round(call.seconds * 1000, 1),
    }


def _decisions(steps: Sequence[JobStep]) -> list[dict[str, Any]]:
    made = [(step, changes) for step in steps for changes in step.changes if decided(changes)]
    return [decision_data(n, step.before, changes, _prompt(step)) for n, (step, changes) in enumerate(made)]


def _prompt(step: JobStep) -> SupervisorPrompt | None:
    """The prompt the decision was asked with, as far as it is still there."""
    try:
        return load_supervisor_prompt(step.options.prompt) if step.options.prompt else None
    except PromptError:
        return None


FILE: Final = "trace.json"
SCHEMA: Final = 2


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
    calls = await kept(jobs.conn, job.name, AnsweredRequest)
    unanswered = Counter((found.agent, found.why) for found in await kept(jobs.conn, job.name, Refusal))
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

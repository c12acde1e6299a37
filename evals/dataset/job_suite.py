"""The suite that runs a case as its live job ran: the same supervisor, prompt, guards and models."""

from collections import Counter
from pathlib import Path
from typing import Any, Final

import yaml

from evals.dataset.layout import Layout
from evals.models.live_job import LiveJob

HEAD: Final = """# `as-it-ran` is what the job ran with. Change `edited` (its prompt, guards, models) and see
# what becomes of the case; `evals plan` says what has to be recorded for it.
"""
UNKNOWN: Final = "model-of-the-job"


def write_suite(layout: Layout, case_id: str, job: LiveJob) -> Path:
    """Write the suite of a case beside the cases; returns its file."""
    path = layout.suite(case_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = yaml.safe_dump(suite_of(case_id, job), sort_keys=False, allow_unicode=True, width=120)
    path.write_text(HEAD + text, encoding="utf-8")
    return path


def suite_of(case_id: str, job: LiveJob) -> dict[str, Any]:
    """The suite as plain data; models and limits are those of the requests, where they were kept."""
    variant = {
        "guards": job.guards,
        "supervisor": job.supervisor,
        "prompt": job.prompt,
        "plan": job.plan,
        "max_iterations": job.max_iterations,
    }
    same = {name: value for name, value in variant.items() if value is not None}
    return {
        "name": f"job-{case_id}",
        "description": f"Case {case_id} as the live job {job.name} ran it.",
        "cases": {"ids": [case_id]},
        "models": _models(job),
        "variants": [
            {"name": "as-it-ran", **same},
            {"name": "edited", **same},
        ],
        "candidate": "edited",
        "reference": "as-it-ran",
    }


def _models(job: LiveJob) -> dict[str, Any]:
    asked = {served.agent: served.request for served in reversed(job.served) if "model" in served.request}
    by_agent = {agent: str(request["model"]) for agent, request in asked.items()}
    default = Counter(by_agent.values()).most_common(1)[0][0] if by_agent else UNKNOWN
    limits = [request["max_completion_tokens"] for request in asked.values() if request.get("max_completion_tokens")]
    return {
        "default": default,
        "fallback": default,
        "agents": {agent: model for agent, model in by_agent.items() if model != default},
        **({"max_output_tokens": limits[0]} if limits else {}),
    }

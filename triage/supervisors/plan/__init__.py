"""The plan supervisor: a DAG of tasks that an LLM steers and a critic checks, in three modes."""

from triage.supervisors.plan.plan_progress import as_task, dispatched, fan_out, for_review
from triage.supervisors.plan.plan_supervisor import fixed, has_a_say, hybrid, llm

__all__ = ["as_task", "dispatched", "fan_out", "fixed", "for_review", "has_a_say", "hybrid", "llm"]

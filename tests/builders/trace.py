"""Traces for tests: an exact, honest run of a local bug unless the test says otherwise."""

from collections.abc import Sequence
from typing import Any, Literal

from evals.models.trace import (
    Call,
    Decision,
    Exchange,
    Override,
    PlannedTask,
    PointAnswer,
    Provenance,
    TaskPlan,
    Trace,
    Visit,
)
from evals.triage.typed_views import Report

HONEST: tuple[str, ...] = ("investigator", "codebase_search", "critic", "writer")


def a_report(location: str | None = "pkg/core.py", files: Sequence[str] = ("pkg/core.py",), **fields: Any) -> Report:
    """A report; `fields` are further fields of `Report` (category, severity, confidence...)."""
    return Report.model_validate(
        {
            "root_cause": "An index is off by one.",
            "root_cause_location": location,
            "category": "code",
            "severity": "HIGH",
            "affected_files": tuple(files),
            "evidence": (),
            "next_steps": (),
            "confidence": 0.8,
            **fields,
        }
    )


def a_decision(
    index: int = 0,
    chosen: str = "writer",
    routed: str | None = None,
    confidence: float = 0.7,
    overrides: Sequence[Override] = (),
    **fields: Any,
) -> Decision:
    """One supervisor answer that was followed unless `routed` says otherwise."""
    return Decision.model_validate(
        {
            "index": index,
            "iteration": index,
            "context": "",
            "chosen": chosen,
            "routed": routed or chosen,
            "reasoning": "because",
            "confidence": confidence,
            "overrides": tuple(overrides),
            **fields,
        }
    )


def an_override(rule: str = "investigator_first", chosen: str = "writer", send_to: str = "investigator") -> Override:
    """A guard that overrode the supervisor."""
    return Override(rule=rule, chosen=chosen, send_to=send_to)


def an_exchange(question: str = "Which version?", answer: str = "3.11", topic: str | None = None) -> Exchange:
    """A question the user answered; without a topic it was "don't know"."""
    return Exchange(question=question, context="", answer=answer, topic=topic)


def a_call(
    agent: str = "supervisor",
    *,
    prompt: int = 100,
    completion: int = 20,
    latency_ms: float = 500.0,
    model: str = "a-model",
) -> Call:
    """One request that was served."""
    return Call(
        agent=agent,
        key="0" * 64,
        model=model,
        prompt_tokens=prompt,
        completion_tokens=completion,
        latency_ms=latency_ms,
    )


def an_answer(point: str = "p1", chosen: str | None = "codebase_search", **fields: Any) -> PointAnswer:
    """What the supervisor chose in one frozen state; None: nobody recorded it."""
    return PointAnswer.model_validate({"point": point, "chosen": chosen, "routed": chosen, **fields})


def a_task(task_id: int = 1, *waits_for: int, capability: str = "investigator", **fields: Any) -> PlannedTask:
    """A task of a plan that passed its review at the first attempt."""
    told = {
        "objective": f"Do part {task_id}.",
        "status": "COMPLETED",
        "attempts": 1,
        "is_final": False,
        "guidance": "",
        "result": "Done.",
        "feedback": "APPROVED",
        "history": ({"step": task_id, "status": "COMPLETED", "note": "passed the review"},),
    }
    return PlannedTask.model_validate(
        {"task_id": task_id, "capability": capability, "dependencies": waits_for, **told, **fields}
    )


def a_plan(*tasks: PlannedTask) -> TaskPlan:
    """A plan of these tasks; without any: two, one after the other."""
    all_of_them = tasks or (a_task(1), a_task(2, 1, capability="writer", is_final=True))
    edges = tuple((before, task.task_id) for task in all_of_them for before in task.dependencies)
    return TaskPlan(tasks=all_of_them, edges=edges)


def a_trace(
    *visits: str,
    case_id: str = "local-bug",
    variant: str = "v2",
    sample: int = 0,
    provenance: Literal["exact", "frontier", "unrecorded", "failed"] = "exact",
    frontier: int | None = None,
    supersteps: Sequence[int] | None = None,
    confidence: float = 0.7,
    report: Report | None = None,
    no_report: bool = False,
    comment: str = "",
    ticket: dict[str, Any] | None = None,
    repository_files: Sequence[str] = ("pkg/core.py", "pkg/io.py", "pkg/cli.py"),
    fix_lines: Sequence[str] = (),
    **fields: Any,
) -> Trace:
    """A trace over `visits` (default: the honest route), with one decision per visit, all at `confidence`.

    `fields` are further fields of `Trace` (decisions, exchanges, calls, points...).
    """
    nodes = visits or HONEST
    steps = range(len(nodes)) if supersteps is None else supersteps
    walked = [Visit.model_validate({"node": n, "superstep": s}) for n, s in zip(nodes, steps, strict=True)]
    decisions = [a_decision(i, node, confidence=confidence) for i, node in enumerate(nodes)]
    written = {} if no_report else (report or a_report()).model_dump(mode="json")
    told = {"comment": comment, "ticket": ticket}
    facts = {"repository_files": tuple(repository_files), "fix_lines": tuple(fix_lines)}
    return Trace.model_validate(
        {
            "case_id": case_id,
            "variant": variant,
            "sample": sample,
            "provenance": Provenance(label=provenance, frontier=frontier),
            "visits": walked,
            "decisions": decisions,
            "output": {**written, **{name: part for name, part in told.items() if part}},
            "facts": {name: texts for name, texts in facts.items() if texts},
            **fields,
        }
    )

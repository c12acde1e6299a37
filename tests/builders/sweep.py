"""Points, traces and behaviours for tests of sweeps: one finding, then the supervisor wants to write."""

import os
import signal
from collections.abc import Sequence
from typing import Any

from evals.models.run import Coverage
from evals.models.trace import Finding, Trace, Visit
from evals.triage.sweep.sweep_result import Behaviour, GridPoint, SplitSummary
from evals.triage.sweep.sweep_run import CaseSweep, Explored
from evals.triage.variant_settings import ConfidenceFloorSetting
from tests.builders.run import a_summary
from tests.builders.trace import a_decision, a_trace

DEADLY = 0.66


def a_point(
    single: float | None = None, corroborated: float = 1.0, findings: int = 2, guards: str = "hardened"
) -> GridPoint:
    """A setting; without thresholds the floor is off."""
    if single is None:
        return GridPoint(guards=guards)
    return GridPoint(
        guards=guards, floor=ConfidenceFloorSetting(single=single, corroborated=corroborated, min_findings=findings)
    )


def a_finding(node: str = "investigator") -> Finding:
    """What a visit learned."""
    told = {"agent_name": node, "summary": "s", "confidence": 0.5, "details": ""}
    return Finding.model_validate(told)


def a_sure_trace(confidence: float, *found_by: str, **fields: Any) -> Trace:
    """Workers find something each; then the supervisor wants the report, at `confidence`."""
    nodes = found_by or ("investigator",)
    decisions = [a_decision(n, node, confidence=0.1) for n, node in enumerate(nodes)]
    return a_trace(
        visits=tuple(
            Visit.model_validate({"node": node, "superstep": 2 * n + 1, "findings": (a_finding(node),)})
            for n, node in enumerate(nodes)
        ),
        decisions=(*decisions, a_decision(len(nodes), "writer", confidence=confidence)),
        **fields,
    )


def a_split_summary(
    score: float | None = 0.5, calls: float = 10.0, exact: int = 4, total: int = 4, **fields: Any
) -> SplitSummary:
    """What a behaviour comes to on one split."""
    told: dict[str, Any] = {
        "coverage": Coverage(exact=exact, frontier=total - exact, unrecorded=0, failed=0),
        "score": a_summary(hits=None, mean=score, n=exact, total=total),
        "visits": 4.0,
        "questions": 0.0,
        "vetoes": 0.0,
        "llm_calls": calls,
        "tokens": 1000.0,
    }
    return SplitSummary(**told | fields)


def a_behaviour(
    single: float | None = None, tune: SplitSummary | None = None, gate: SplitSummary | None = None
) -> Behaviour:
    """One point that behaves like no other."""
    point = a_point(single)
    splits = {"tune": tune or a_split_summary(), "gate": gate or a_split_summary()}
    return Behaviour.model_validate({"name": point.name, "points": (point,), "splits": splits})


def names(behaviours: Sequence[Behaviour]) -> list[str]:
    """Their names."""
    return [one.name for one in behaviours]


def explore_or_die(sweep: CaseSweep) -> Explored:
    """One trial for all points, each of which does what its threshold says: at 0.66 it kills its process."""
    if any(point.floor and point.floor.single == DEADLY for point in sweep.points):
        os.kill(os.getpid(), signal.SIGKILL)
    trace = a_trace(case_id=sweep.case.id, variant=sweep.points[0].name)
    return Explored(sweep.case.id, sweep.points, (trace,), (0,) * len(sweep.points))

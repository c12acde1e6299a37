"""Cases for tests: a local bug with an honest trace unless the test says otherwise."""

from collections.abc import Sequence
from typing import Any

from evals.models.case import (
    Case,
    Constraint,
    DecisionPoint,
    Question,
    QuestionPolicy,
    RouteAlternative,
    RouteLabel,
    RouteNode,
    RouteSpec,
    ScriptedAnswer,
    Steps,
)
from evals.triage.dataset.dataset_layout import CaseFile, Gold

NODES: tuple[RouteNode, ...] = ("investigator", "codebase_search", "web_search", "critic", "human_input", "writer")
CAPS: dict[RouteNode, int] = dict(zip(NODES, (2, 3, 2, 1, 1, 1), strict=True))


def a_constraint(
    kind: str = "init",
    a: Sequence[str] = ("investigator",),
    b: Sequence[str] = (),
    *,
    if_: dict[str, tuple[str, float]] | None = None,
    **fields: Any,
) -> Constraint:
    """One constraint; `fields` are those of `Constraint` (id, min, max, w, hard)."""
    named = {"id": f"{kind}:{'|'.join(a)}", "type": kind, "a": a, "b": b, **fields}
    return Constraint.model_validate(named if if_ is None else {**named, "if": if_})


def policy_constraints() -> tuple[Constraint, ...]:
    """The policy pack `triage-policy/1` as constraints: its P2b fails a route alone, which the shipped one's cannot."""
    return (
        a_constraint("init", id="P1", w=2, hard=True),
        a_constraint("precedence", ["critic"], ["writer"], id="P2", if_={"confidence": ("<", 0.85)}, w=2, hard=True),
        a_constraint("absence", ["critic"], id="P2b", if_={"confidence": (">=", 0.85)}, w=2),
        a_constraint("existence", ["critic"], id="P3", max=1, hard=True),
        a_constraint("existence", ["writer"], id="P4", max=1, hard=True),
        a_constraint("not_succession", ["writer"], NODES, id="P5", hard=True),
    )


def reviewed_policy() -> tuple[Constraint, ...]:
    """`triage-policy/2` where it differs: a plan's reviews count, and a review nobody needed fails no route alone."""
    unreviewed = {"confidence": ("<", 0.85), "reviews_before_writer": ("<", 1)}
    needless = {"confidence_before_critic": (">=", 0.85)}
    changed = (
        a_constraint("precedence", ["critic"], ["writer"], id="P2", if_=unreviewed, w=2, hard=True),
        a_constraint("not_succession", ["critic"], ["writer"], id="P2b", if_=needless, w=0.5),
    )
    return (*(rule for rule in policy_constraints() if rule.id not in ("P2", "P2b")), *changed)


def case_constraints() -> tuple[Constraint, ...]:
    """What a local bug asks of a route: search the code, ask nobody, end with the writer."""
    return (
        a_constraint("end", ["writer"], id="end", w=2, hard=True),
        a_constraint("existence", ["codebase_search"], id="must:codebase_search", min=1, w=2, hard=True),
        a_constraint("existence", ["human_input"], id="never:human_input", max=0, w=2, hard=True),
    )


def an_alternative(
    *constraints: Constraint,
    target: int = 4,
    max_steps: int = 5,
    node_max: dict[RouteNode, int] | None = None,
    exemplars: Sequence[Sequence[str]] = (("investigator", "codebase_search", "critic", "writer"),),
    question: QuestionPolicy = "forbidden",
) -> RouteAlternative:
    """One acceptable way; without constraints: the policy and the local bug's own."""
    return RouteAlternative.model_validate(
        {
            "constraints": constraints or (*policy_constraints(), *case_constraints()),
            "steps": Steps(target=target, max=max_steps),
            "node_max": {"human_input": 0} if node_max is None else node_max,
            "exemplars": exemplars,
            "question": question,
        }
    )


def a_spec(*alternatives: RouteAlternative) -> RouteSpec:
    """A whole route specification; without alternatives: the local bug's."""
    return RouteSpec(name="a spec", node_caps=CAPS, alternatives=alternatives or (an_alternative(),))


def a_point(point: str = "p1", **accept: float) -> DecisionPoint:
    """A decision point; `accept` maps next nodes to grades."""
    return DecisionPoint.model_validate(
        {"id": point, "state": {}, "accept": accept or {"codebase_search": 1.0}, "why": "it says so"}
    )


def a_case(
    case_id: str = "local-bug",
    *,
    gold_files: Sequence[str] = ("pkg/core.py",),
    gold_functions: Sequence[str] = (),
    alternative_files: Sequence[str] = (),
    alternative_functions: Sequence[str] = (),
    question: QuestionPolicy = "forbidden",
    answers: Sequence[ScriptedAnswer] = (),
    points: Sequence[DecisionPoint] = (),
    spec: RouteSpec | None = None,
    codebase: str = "pkg",
    pair_id: str | None = None,
    **fields: Any,
) -> Case:
    """A case ready to run; `fields` are further fields of `CaseFile` (category, severity, tags, canary...)."""
    label = RouteLabel.model_validate(
        {
            "constraints": case_constraints(),
            "target": 4,
            "max": 5,
            "node_max": {"human_input": 0},
            "exemplars": [["investigator", "codebase_search", "critic", "writer"]],
        }
    )
    labels = CaseFile.model_validate(
        {
            "id": case_id,
            "codebase": codebase,
            "archetype": "local_bug",
            "split": "gate",
            "severity": "HIGH",
            "category": "code",
            "root_cause": "An index is off by one.",
            "gold": Gold(files=tuple(gold_files), functions=tuple(gold_functions)),
            "alternatives": Gold(files=tuple(alternative_files), functions=tuple(alternative_functions)),
            "question": Question(policy=question, answers=tuple(answers)),
            "route": [label],
            "decision_points": tuple(points),
            "pair_id": pair_id,
            **fields,
        }
    )
    return Case(
        labels=labels,
        title="It crashes",
        body="IndexError in the worker.",
        url="",
        repository=f"example/{codebase}",
        route_spec=spec or a_spec(),
        digest="0" * 64,
    )

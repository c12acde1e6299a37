"""Decision points: frozen states the graph could really be in, labelled as its rules say."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from evals.dataset.checks.place import at_case, at_label
from evals.dataset.checks.rules import broken_rule
from evals.dataset.finding import Complaint, Corpus, Subject
from evals.models.case import Case, DecisionPoint


def point_ids_differ(subject: Subject) -> Iterator[Complaint]:
    """Within a case each decision point has a name of its own."""
    seen: set[str] = set()
    for index, point in enumerate(subject.case.labels.decision_points):
        if point.id in seen:
            yield _at_point(subject, index, f"a decision point is called {point.id!r} already")
        seen.add(point.id)


def points_give_a_reason(subject: Subject) -> Iterator[Complaint]:
    """Every label says why, in a sentence, and grades one node as right."""
    for index, point in enumerate(subject.case.labels.decision_points):
        if len(point.why.split()) < 3:
            yield _at_point(subject, index, f"{point.id}: `why` is no sentence; name the rule, or say it is judgement")
        if max(point.accept.values()) < 1:
            yield _at_point(
                subject, index, f"{point.id}: no node is graded 1.0; something must be the right thing to do"
            )


def points_are_reachable(subject: Subject) -> Iterator[Complaint]:
    """Each visit counts one iteration, and what is known was brought by a visit."""
    for index, point in enumerate(subject.case.labels.decision_points):
        for fault in _inconsistencies(point.state):
            yield _at_point(subject, index, f"{point.id}: {fault}")


def points_keep_the_rules(subject: Subject) -> Iterator[Complaint]:
    """No label accepts what a rule of the supervisor forbids in that state."""
    for index, point in enumerate(subject.case.labels.decision_points):
        broken = broken_rule(point)
        if broken:
            yield _at_point(subject, index, f"{point.id}: accepts {broken[0]}, against a rule: {broken[1]}")


def point_states_are_valid(corpus: Corpus) -> Iterator[Complaint]:
    """The caller's validator (the graph's own state model) accepts every frozen state."""
    validate = corpus.surroundings.validate_state
    if validate is None:
        return
    for case, index, point in _points(corpus):
        fault = validate({**_issue(case), **point.state})
        if fault is not None:
            yield at_case(corpus, case, f"{point.id}: {fault}", "decision_points", index)


def equal_states_have_equal_labels(corpus: Corpus) -> Iterator[Complaint]:
    """What is known in a state must tell why its label differs from that of another: no two are equal and labelled
    otherwise. The issue does not count as part of it; a state says what was made of the issue."""
    labelled: dict[str, tuple[Case, DecisionPoint]] = {}
    for case, index, point in _points(corpus):
        known = {name: value for name, value in point.state.items() if value not in ([], {}, None, "", 0)}
        first, other = labelled.setdefault(json.dumps(known, sort_keys=True), (case, point))
        if other.accept != point.accept:
            message = f"{point.id}: the state equals {first.id}/{other.id}, the label does not"
            yield at_case(corpus, case, message, "decision_points", index)


def _inconsistencies(state: dict[str, Any]) -> Iterator[str]:
    visits = Counter(state.get("visits", ()))
    if state.get("iterations", 0) != visits.total():
        yield f"`iterations` is {state.get('iterations', 0)}, but there are {visits.total()} visits"
    brought = Counter(entry.get("agent_name") for name in ("findings", "agent_errors") for entry in state.get(name, ()))
    brought["human_input"] += len(state.get("human_exchanges", ()))
    for agent, count in sorted(brought.items(), key=str):
        if count > visits[agent]:
            yield f"{agent} brought {count} results in {visits[agent]} visits"
    seen = (state.get("critic_feedback") or {}).get("evidence_seen", 0)
    known = len(state.get("findings", ())) + len(state.get("human_exchanges", ()))
    if seen > known:
        yield f"the critic has seen {seen} pieces of evidence, but there are {known}"
    for result, agent in (("critic_feedback", "critic"), ("report", "writer")):
        if state.get(result) and not visits[agent]:
            yield f"there is a `{result}`, but no visit of the {agent}"


def _points(corpus: Corpus) -> Iterator[tuple[Case, int, DecisionPoint]]:
    for case in corpus.cases.values():
        for index, point in enumerate(case.labels.decision_points):
            yield case, index, point


def _issue(case: Case) -> dict[str, str]:
    return {
        "issue_title": case.title,
        "issue_body": case.body,
        "issue_url": case.url,
        "repository": case.repository,
    }


def _at_point(subject: Subject, index: int, message: str) -> Complaint:
    return at_label(subject, message, "decision_points", index)

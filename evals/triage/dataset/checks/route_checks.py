"""Checks of route specifications and decision points."""

import json
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from evals.models.case import Case, DecisionPoint
from evals.models.route_spec import RouteNode
from evals.routes.constraints import spec_faults
from evals.triage.dataset.checks.label_checks import broken_rule
from evals.triage.dataset.checks.text_checks import at_case, at_label
from evals.triage.dataset.finding import Complaint, Corpus, Edges, LintedCase
from evals.triage.dataset.passing_routes import strictness_of
from evals.triage.route_spec_strictness import mutants, rejected_exemplars

MAX_SHARE: Final = 0.01


def spec_is_sound(subject: LintedCase) -> Iterator[Complaint]:
    """Every constraint has what its type needs, ids differ, the step target is not above the maximum."""
    for fault in spec_faults(subject.case.route_spec):
        yield at_label(subject, fault, "route")


def exemplars_pass(subject: LintedCase) -> Iterator[Complaint]:
    """Every exemplar passes its own alternative under the policy."""
    rejected = rejected_exemplars(subject.case.route_spec)
    for index, alternative in enumerate(subject.case.route_spec.alternatives):
        for place, exemplar in enumerate(alternative.exemplars):
            if exemplar in rejected:
                message = f"the exemplar {_arrows(exemplar)} fails its own specification"
                yield at_label(subject, message, "route", index, "exemplars", place)


def spec_is_strict(subject: LintedCase) -> Iterator[Complaint]:
    """Of all node sequences of up to six visits, fewer than one in a hundred pass; found out once a specification."""
    share = strictness_of(subject.case.route_spec, subject.cache).share
    if share >= MAX_SHARE:
        yield at_label(
            subject, f"{share:.2%} of all routes pass; below {MAX_SHARE:.0%} a pass means something", "route"
        )


def mutants_are_killed(subject: LintedCase) -> Iterator[Complaint]:
    """No exemplar can be spoilt unnoticed: one complaint per kind of damage, with the first route that got through."""
    alive = [mutant for mutant in mutants(subject.case.route_spec) if not mutant.killed]
    counts = Counter(mutant.kind for mutant in alive)
    for kind, count in sorted(counts.items()):
        first = next(mutant for mutant in alive if mutant.kind == kind)
        yield at_label(subject, f"{kind} goes unnoticed {count} times, e.g. {_arrows(first.visits)}", "route")


def routes_are_possible(corpus: Corpus) -> Iterator[Complaint]:
    """Each step of each exemplar is one the compiled graph can take; a route may stop where the user is asked."""
    edges = corpus.surroundings.edges
    if edges is None:
        return
    for case in corpus.cases.values():
        for index, alternative in enumerate(case.route_spec.alternatives):
            for place, exemplar in enumerate(alternative.exemplars):
                for one, other in _impossible_steps(exemplar, edges):
                    message = f"the exemplar {_arrows(exemplar)} goes {one} → {other}, which the graph cannot"
                    yield at_case(corpus, case, message, "route", index, "exemplars", place)


def _impossible_steps(exemplar: tuple[RouteNode, ...], edges: Edges) -> Iterator[tuple[str, str]]:
    ends = () if exemplar[-1:] == ("human_input",) else ("end",)
    return (step for step in pairwise(("start", *exemplar, *ends)) if step not in edges)


def _arrows(route: tuple[RouteNode, ...]) -> str:
    return " → ".join(route) or "(no visit)"


def point_ids_differ(subject: LintedCase) -> Iterator[Complaint]:
    """Within a case each decision point has a name of its own."""
    seen: set[str] = set()
    for index, point in enumerate(subject.case.labels.decision_points):
        if point.id in seen:
            yield _at_point(subject, index, f"a decision point is called {point.id!r} already")
        seen.add(point.id)


def points_give_a_reason(subject: LintedCase) -> Iterator[Complaint]:
    """Every label says why, in a sentence, and grades one node as right."""
    for index, point in enumerate(subject.case.labels.decision_points):
        if len(point.why.split()) < 3:
            yield _at_point(subject, index, f"{point.id}: `why` is no sentence; name the rule, or say it is judgement")
        if max(point.accept.values()) < 1:
            yield _at_point(
                subject, index, f"{point.id}: no node is graded 1.0; something must be the right thing to do"
            )


def points_are_reachable(subject: LintedCase) -> Iterator[Complaint]:
    """Each visit counts one iteration, and what is known was brought by a visit."""
    for index, point in enumerate(subject.case.labels.decision_points):
        for fault in _inconsistencies(point.state):
            yield _at_point(subject, index, f"{point.id}: {fault}")


def points_keep_the_rules(subject: LintedCase) -> Iterator[Complaint]:
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


def _at_point(subject: LintedCase, index: int, message: str) -> Complaint:
    return at_label(subject, message, "decision_points", index)

"""One trial for the terminal."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from evals.application_pack import load_pack
from evals.models.metrics import Outcome, Skipped
from evals.models.run import CaseChange, CaseInfo, Trial, trial_metrics
from evals.models.trace import Decision, Finding, Trace, Visit
from evals.report.numbers import percent
from evals.report.view.case_table import mark
from evals.report.view.trial_view import label_lines, text_of, visits_by_decision
from evals.report.view.violations_table import reason_of
from evals.routes.route_check import asks, nearest_exemplar
from evals.scoring.registry import scorer_infos
from evals.scoring.scorer import UNSTATED

MOST: Final = 2
"""Right ways that are told; more are counted."""
_LONGEST: Final = 300
"""Characters of an output that are shown."""


@dataclass(frozen=True)
class ExplainedStep:
    """One decision: `lines` are (what, text); `wrong` says where it leaves what the label wants, else empty."""

    title: str
    lines: tuple[tuple[str, str], ...]
    wrong: str


@dataclass(frozen=True)
class Explanation:
    """A trial in ready strings. `wanted` is the label's side, `outcome` what came of it and why."""

    variant: str
    provenance: str
    steps: tuple[ExplainedStep, ...]
    outcome: tuple[tuple[str, str], ...]


def wanted(case: CaseInfo) -> tuple[tuple[str, str], ...]:
    """What the label asks of every variant: routes that are right, and the outcome."""
    routes = [" → ".join(exemplar) for exemplar in case.exemplars]
    others = [("", f"or one of {len(routes) - MOST} other ways")] if len(routes) > MOST else []
    ways = case.route_spec.alternatives if case.route_spec and not routes else ()
    rules = [("route", asks(constraint)) for way in ways for constraint in way.constraints]
    none = [("label", "none: the case is compared with its blessed run")]
    labels = label_lines(case) or (none if not (rules or routes) else [])
    return (*labels, *rules, *(("route", route) for route in routes[:MOST]), *others)


def explanation(trial: Trial, case: CaseInfo, changes: Sequence[CaseChange] = ()) -> Explanation:
    """The trial, step by step, and its end, with what changed since it was blessed."""
    trace = trial.trace
    since = [
        ("changed", f"{each.what}: {each.was} → {each.now}")
        for each in changes
        if (each.case_id, each.variant) == (case.id, trace.variant)
    ]
    return Explanation(
        variant=trace.variant,
        provenance=str(trace.provenance),
        steps=tuple(_target_steps(trace) if trace.names else _steps(trial, case)),
        outcome=(*since, *_outcome(trial, case)),
    )


def _target_steps(trace: Trace) -> Iterator[ExplainedStep]:
    """Nodes and tools in order; `iteration` of a decision counts the nodes before it."""
    chosen = {decision.iteration: decision.chosen for decision in trace.decisions}
    nodes = 0
    for place, visit in enumerate(trace.visits):
        lines = [("failed", visit.error)] if visit.error else []
        if visit.arguments is not None:
            lines.append(("given", _json(visit.arguments)))
        else:
            lines += [("chose", chosen[nodes])] if nodes in chosen else []
            nodes += 1
        yield ExplainedStep(f"{place + 1}  {visit.node}", tuple(lines), "")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _steps(trial: Trial, case: CaseInfo) -> Iterator[ExplainedStep]:
    """Decisions with their visits; as long as a route follows the nearest exemplar, what that goes on to is wanted."""
    trace = trial.trace
    way = nearest_exemplar(trace.route, case.exemplars, trace.supersteps) or ()
    known: list[Finding] = []
    answers = iter(trace.exchanges)
    place = 0
    for decision, visits in zip(trace.decisions, visits_by_decision(trace)[1:], strict=False):
        steps = [visit for visit in visits if visit.reviews is None]
        lines = [("knew", _knew(known)), ("chose", _chose(decision)), *_between(decision)]
        if any(visit.node == load_pack().asking_node for visit in steps) and (exchange := next(answers, None)):
            lines += [("asked", exchange.question), ("heard", exchange.answer)]
        lines += [("found", _found(visit)) for visit in visits]
        yield ExplainedStep(
            title=f"{decision.index + 1}  {', '.join(visit.node for visit in steps) or decision.routed}",
            lines=tuple(lines),
            wrong=_wrong(trial, way, place, len(steps)),
        )
        known += [found for visit in visits for found in visit.findings]
        place += len(steps)


def _wrong(trial: Trial, way: Sequence[str], place: int, count: int) -> str:
    """Where the route leaves the nearest exemplar: at one of these visits, or by ending here."""
    leaves = trial.first_divergence
    if leaves is None or not place <= leaves < place + max(count, 1):
        return ""
    return f"departs from the nearest correct route, which goes on to {way[leaves] if leaves < len(way) else 'the end'}"


def _knew(known: Sequence[Finding]) -> str:
    return ", ".join(f"{found.agent_name} {percent(found.confidence)}" for found in known) or "nothing but the issue"


def _chose(decision: Decision) -> str:
    return f"{decision.chosen}, {percent(decision.confidence)} sure: {decision.reasoning or 'no reason given'}"


def _between(decision: Decision) -> Iterator[tuple[str, str]]:
    """What stood between the choice and where it went."""
    yield from (("override", f"{one.rule} sends it to {one.send_to}, not {one.chosen}") for one in decision.overrides)
    if decision.error is not None:
        yield "reply", f"unusable: {decision.error}"
    if decision.forced_fallback:
        yield "reply", "the fallback was forced"


def _found(visit: Visit) -> str:
    if visit.error is not None:
        return f"{visit.node} failed: {visit.error}"
    last = visit.findings[-1] if visit.findings else None
    return f"{visit.node}: {last.summary} ({percent(last.confidence)})" if last else f"{visit.node}: nothing"


def _outcome(trial: Trial, case: CaseInfo) -> Iterator[tuple[str, str]]:
    trace = trial.trace
    if trace.provenance.label != "exact":
        yield "recorded", _unrecorded(trace)
    yield "route", " → ".join(trace.route) or "no step"
    names = [name for name in trial_metrics(scorer_infos(load_pack())) if not _is_unlabelled(trial.outcomes.get(name))]
    marks = (mark(name.partition(".")[0].replace("_", " "), trial.outcomes.get(name)).text for name in names)
    if names:
        yield "metrics", "  ".join(marks)
    yield from (("output", _short(f"{name}: {text_of(value)}")) for name, value in _fields(trace))
    if why := reason_of(trial, case):
        yield "why", why
    if trial.decisive:
        yield "decisive", trial.decisive.text
    yield from (("state", text) for text in state_sentences(trace, case))


def _is_unlabelled(outcome: Outcome | None) -> bool:
    return isinstance(outcome, Skipped) and outcome.reason.startswith(UNSTATED)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]} …"


def _fields(trace: Trace) -> Iterator[tuple[str, object]]:
    """Members of the output, without messages."""
    yield from ((name, value) for name, value in trace.output.items() if name != "messages")


def _unrecorded(trace: Trace) -> str:
    """Why not all of the trial is known."""
    if trace.error is not None:
        return f"{trace.provenance}: {trace.error}"
    agents = ", ".join(dict.fromkeys(miss.agent for miss in trace.misses))
    return f"{trace.provenance}: what {agents or 'nobody'} asked next is not recorded; nothing after it is known"


def state_sentences(trace: Trace, case: CaseInfo) -> Iterator[str]:
    """The decision points in which another node than the best was chosen."""
    points = {point.id: point for point in case.points}
    for answer in trace.points:
        point = points.get(answer.point)
        if point is None or answer.chosen is None or not answer.say or answer.chosen == point.gold:
            continue
        grade = point.accept.get(answer.chosen)
        worth = "not acceptable" if grade is None else f"worth {percent(grade)}"
        yield f"{answer.point}: chose {answer.chosen} ({worth}), best is {point.gold}: {point.why}"

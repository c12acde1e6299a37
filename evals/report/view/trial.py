"""One trial up close: its steps in order, each a decision and its visit, then what came out and the scores."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from evals.models.outcome import Failed, Outcome, Scored, Skipped
from evals.models.run import CaseInfo, ScorerInfo, Trial
from evals.models.trace import Decision, Finding, PointAnswer, Report, Trace, Visit
from evals.report.numbers import NOTHING, measure, percent
from evals.report.view.miss import MissView, miss_view
from evals.report.view.plan import Pictures, PlanView, plan_view
from evals.report.view.ribbon import Ribbon, ribbon
from evals.report.view.rules import figures_of, reason_of
from evals.report.view.texts import Texts


class FindingView(NamedTuple):
    """What a visit learned. `details` is the number of a text."""

    summary: str
    confidence: str
    details: str
    files: tuple[str, ...]


class VisitView(NamedTuple):
    """One run of a worker."""

    node: str
    findings: tuple[FindingView, ...]
    error: str


class Step(NamedTuple):
    """A decision and the visits it led to. A step without `chosen` is a visit nobody is on record for."""

    number: str
    chosen: str
    routed: str
    tasks: str
    confidence: str
    reasoning: str
    question: str
    vetoes: tuple[str, ...]
    notes: tuple[str, ...]
    context: str
    visits: tuple[VisitView, ...]


class Point(NamedTuple):
    """A decision point: what is acceptable there, and what was chosen."""

    name: str
    accepted: str
    why: str
    chosen: str
    verdict: str
    reasoning: str


@dataclass(frozen=True)
class TrialView:
    """Everything the drill-down shows of one trial. `scores` is the number of a text: one line per scorer, in order."""

    variant: str
    sample: str
    provenance: str
    exact: bool
    error: str
    ribbon: Ribbon
    violations: tuple[str, ...]
    reason: str
    figures: tuple[str, ...]
    plan: PlanView | None
    steps: tuple[Step, ...]
    exchanges: tuple[tuple[str, str, str], ...]
    report: tuple[tuple[str, str], ...]
    comment: str
    misses: tuple[MissView, ...]
    points: tuple[Point, ...]
    scores: str


def trial_view(
    trial: Trial, case: CaseInfo, scorers: Sequence[ScorerInfo], texts: Texts, pictures: Pictures
) -> TrialView:
    """One trial in ready strings; its long texts go to `texts`, the look of its plan to `pictures`."""
    trace = trial.trace
    return TrialView(
        variant=trace.variant,
        sample=f"sample {trace.sample + 1}" if trace.sample else "",
        provenance=str(trace.provenance),
        exact=trace.provenance.label == "exact",
        error=trace.error or "",
        ribbon=ribbon(trial),
        violations=() if trial.reading else trial.hard_violations,  # the reason names them
        reason=reason_of(trial, case),
        figures=figures_of(trial),
        plan=plan_view(trace.plan, texts, pictures) if trace.plan else None,
        steps=tuple(_steps(trace, texts)),
        exchanges=tuple((item.question, item.answer, item.topic or "don't know") for item in trace.exchanges),
        report=_report(trace.report) if trace.report else (),
        comment=texts.add(trace.comment) if trace.comment else "",
        misses=tuple(miss_view(miss, texts) for miss in (*trace.misses, *trace.point_misses)),
        points=_points(trace, case),
        scores=texts.add("\n".join(_score(info, trial.outcomes.get(info.name)) for info in scorers)),
    )


def _steps(trace: Trace, texts: Texts) -> list[Step]:
    """Decisions with their visits: the k-th decision that went to a worker led to the k-th group of visits."""
    groups = visit_groups(trace)
    steps = []
    for decision in trace.decisions:
        went = decision.routed != "end" and groups
        steps.append(step_of(decision, texts, groups.pop(0) if went else ()))
    return steps + [_orphan(group, texts) for group in groups]


def visit_groups(trace: Trace) -> list[list[Visit]]:
    """The visits of one decision after the other: a superstep, and under a plan the reviews in the one right behind."""
    groups: list[list[Visit]] = []
    for superstep, visits in groupby(trace.visits, key=lambda visit: visit.superstep):
        reviews = trace.plan is not None and bool(groups) and groups[-1][-1].superstep == superstep - 1
        if reviews:
            groups[-1] += visits
        else:
            groups.append(list(visits))
    return groups


def step_of(decision: Decision, texts: Texts, visits: Sequence[Visit] = ()) -> Step:
    """One decision in ready strings, with the visits it led to."""
    return Step(
        number=str(decision.index + 1),
        chosen=decision.chosen,
        routed=decision.routed,
        tasks=_tasks(decision) if decision.tasks else "",
        confidence=percent(decision.confidence),
        reasoning=texts.add(decision.reasoning) if decision.reasoning else "",
        question=decision.question or "",
        vetoes=tuple(f"{veto.guard}: {veto.chosen} → {veto.send_to}" for veto in decision.vetoes),
        notes=tuple(_notes(decision)),
        context=texts.add(decision.context) if decision.context else "",
        visits=tuple(_visit(visit, texts) for visit in visits),
    )


def _notes(decision: Decision) -> Iterator[str]:
    if decision.forced_fallback:
        yield "forced fallback"
    if decision.corrections:
        yield f"{decision.corrections} correction{'s' * (decision.corrections > 1)} asked for"
    if decision.error is not None:
        yield f"unusable reply: {decision.error}"


def _tasks(decision: Decision) -> str:
    """The tasks a plan's step chose, in the numbers of their histories."""
    numbers = ", ".join(map(str, decision.tasks))
    return f"step {decision.index + 1}: task{'s' * (len(decision.tasks) > 1)} {numbers}"


def _orphan(visits: Sequence[Visit], texts: Texts) -> Step:
    return Step("", "", "", "", "", "", "", (), (), "", tuple(_visit(visit, texts) for visit in visits))


def _visit(visit: Visit, texts: Texts) -> VisitView:
    return VisitView(visit.node, tuple(_finding(found, texts) for found in visit.findings), visit.error or "")


def _finding(found: Finding, texts: Texts) -> FindingView:
    details = texts.add(found.details) if found.details else ""
    return FindingView(found.summary, percent(found.confidence), details, found.relevant_files)


def _report(report: Report) -> tuple[tuple[str, str], ...]:
    rows = {
        "root cause": report.root_cause,
        "location": report.root_cause_location or "",
        "category": report.category,
        "severity": report.severity,
        "files": "\n".join(report.affected_files),
        "evidence": "\n".join(report.evidence),
        "next steps": "\n".join(report.next_steps),
        "confidence": percent(report.confidence),
    }
    return tuple((name, text or "none") for name, text in rows.items())


def _points(trace: Trace, case: CaseInfo) -> tuple[Point, ...]:
    known = {point.id: point for point in case.points}
    views = []
    for answer in trace.points:
        point = known.get(answer.point)
        grade = point.accept.get(answer.chosen) if point and answer.chosen else None
        views.append(
            Point(
                name=answer.point,
                accepted=", ".join(f"{node} {percent(share)}" for node, share in point.accept.items()) if point else "",
                why=point.why if point else "",
                chosen=answer.chosen or "not recorded",
                verdict=_point_verdict(grade, answer, known=point is not None),
                reasoning=answer.reasoning,
            )
        )
    return tuple(views)


def _point_verdict(grade: float | None, answer: PointAnswer, *, known: bool) -> str:
    if not known or answer.chosen is None:
        return NOTHING
    if not answer.say:
        return "no choice of its own"
    return "✗ not acceptable" if grade is None else "✓ right" if grade == 1 else f"~ defensible ({percent(grade)})"


def _score(info: ScorerInfo, outcome: Outcome | None) -> str:
    """A score on one line; a reason of several lines is made one."""
    match outcome:
        case Scored(value=value):
            return measure(value, info.unit)
        case Skipped(reason=reason):
            return " ".join(f"skipped: {reason}".split())
        case Failed(error=error):
            return " ".join(f"failed: {error}".split())
        case None:
            return "skipped: not asked for"

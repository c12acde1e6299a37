"""One trial in detail: steps, route strip and misses."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from itertools import count, groupby, zip_longest
from types import SimpleNamespace
from typing import TYPE_CHECKING, Final, NamedTuple

from evals.application_pack import load_pack
from evals.models.case import RouteNode
from evals.models.metrics import Failed, Outcome, Scored, Skipped
from evals.models.run import CaseInfo, Run, ScorerInfo, Trial
from evals.models.trace import Call, Decision, Difference, Finding, Miss, PointAnswer, Trace, Visit
from evals.report.numbers import NOTHING, measure, percent
from evals.report.recorded_calls import RecordedCall
from evals.report.view.page_parts import Texts
from evals.report.view.plan_graph import Pictures, plan_view
from evals.report.view.violations_table import figures_of, reason_of

if TYPE_CHECKING:
    from evals.application_pack import Pack


def letters_of(nodes: Iterable[RouteNode], pack: "Pack | None" = None) -> dict[RouteNode, str]:
    """Node -> its letters in a route strip, no two alike: those that the pack names, else a capital of the name, with a
    small letter or a number where another node has that."""
    letters = dict((pack or load_pack()).node_letters)
    for node in nodes:
        if node not in letters:
            letters[node] = next(free for free in _letters(node) if free not in letters.values())
    return letters


def _letters(node: RouteNode) -> Iterator[str]:
    name = re.sub("[^A-Za-z]", "", node) or "N"
    first = name[0].upper()
    yield first
    yield from (first + other.lower() for other in name[1:])
    yield from (f"{first}{number}" for number in count(2))


def run_letters(run: Run, pack: "Pack | None" = None) -> dict[RouteNode, str]:
    """The letters of every node that a route strip of the run may show."""
    walked = {step.node for trial in run.trials for step in trial.trace.steps}
    return letters_of(sorted(walked.union(*(route for case in run.cases for route in case.exemplars))), pack)


class RibbonStop(NamedTuple):
    """One step. `beside`: it ran at the same time as the one before."""

    node: str
    letter: str
    label: str
    diverges: bool
    broken: bool
    beside: bool


class Ribbon(NamedTuple):
    """A route; `spoken` says it in words, `ended_early` that it stopped where the exemplar goes on."""

    stops: tuple[RibbonStop, ...]
    spoken: str
    ended_early: bool

    @property
    def text(self) -> str:
        """In a few characters, as in `I C+W K! Wr^`: + beside, ! failed, ^ leaves the exemplar, ⊣ ends early."""
        stops = (
            ("+" if stop.beside else " ") + stop.letter + "!" * stop.broken + "^" * stop.diverges for stop in self.stops
        )
        return ("".join(stops) + " ⊣" * self.ended_early).strip() or self.spoken


def ribbon(trial: Trial, letters: Mapping[RouteNode, str]) -> Ribbon:
    """The route of a trial as far as it is known; what a plan reviews stands in its steps."""
    visits, mark = trial.trace.steps, trial.first_divergence
    stops = tuple(
        _stop(
            visit.node,
            letters[visit.node],
            diverges=i == mark,
            broken=visit.error is not None,
            beside=i > 0 and visits[i - 1].superstep == visit.superstep,
        )
        for i, visit in enumerate(visits)
    )
    was_read = trial.trace.provenance.label == "exact" and not stops  # by another runner, which tells no steps
    spoken = ", ".join(stop.label for stop in stops) or ("" if was_read else "no step")
    return Ribbon(stops, spoken, ended_early=mark is not None and mark >= len(stops))


@cache  # of few kinds, however many visits there are
def _stop(node: RouteNode, letter: str, *, diverges: bool, broken: bool, beside: bool) -> RibbonStop:
    """A visit and what is to be said of it."""
    label = f"{node}{' beside it' * beside}{', failed' * broken}{', leaves the exemplar here' * diverges}"
    return RibbonStop(node, letter, label, diverges, broken, beside)


def plain_ribbon(route: tuple[RouteNode, ...], letters: Mapping[RouteNode, str]) -> Ribbon:
    """An exemplar: nothing in it can go wrong."""
    stops = tuple(_stop(node, letters[node], diverges=False, broken=False, beside=False) for node in route)
    return Ribbon(stops, ", ".join(route), ended_early=False)


PLACES_SHOWN: Final = 6
_TOKEN: Final = re.compile(r"\s+|\S+")


@dataclass(frozen=True)
class MissView:
    """`differs` is the number of a text, which equal misses share; empty where there is nothing to compare with."""

    asked: str
    nearest: str
    differs: str


def miss_view(miss: Miss, texts: Texts) -> MissView:
    """One miss in ready strings."""
    asked = (
        f"{miss.agent} asked {miss.model} ({miss.method} {miss.path}) after decision {miss.decision}: {miss.key[:12]}"
    )
    near = miss.nearest
    if near is None:
        return MissView(asked, f"no request of {miss.agent} is recorded for this case, so there is none to compare", "")
    shown = [_place(found) for found in near.differences[:PLACES_SHOWN]]
    if len(near.differences) > PLACES_SHOWN:
        shown.append(f"and {len(near.differences) - PLACES_SHOWN} more places")
    nearest = (
        f"how it differs from {near.key[:12]}, the nearest recorded request ({percent(near.alike)} of words shared)"
    )
    return MissView(asked, nearest, texts.add("\n\n".join(shown)) if shown else "")


def _place(found: Difference) -> str:
    where = found.path + (f", line {found.line}" if found.line else "")
    note = f" ({', '.join(found.volatile)}: changes by itself)" if found.volatile else ""
    return f"{where}{note}\n{word_diff(found.recorded, found.asked)}"


def word_diff(recorded: str, asked: str) -> str:
    """The text with what went as [-words-] and what came as {+words+}; all at once where little is shared."""
    old, new = _TOKEN.findall(recorded), _TOKEN.findall(asked)
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if matcher.ratio() < 0.5:
        return _went(recorded) + ("\n" if recorded and asked else "") + _came(asked)
    return "".join(
        "".join(old[a:b]) if tag == "equal" else _went("".join(old[a:b])) + _came("".join(new[c:d]))
        for tag, a, b, c, d in matcher.get_opcodes()
    )


def _went(text: str) -> str:
    return f"[-{text}-]" if text else ""


def _came(text: str) -> str:
    return f"{{+{text}+}}" if text else ""


class FindingView(NamedTuple):
    """What a visit learned. `details` is the number of a text."""

    summary: str
    confidence: str
    details: str
    files: tuple[str, ...]


class VisitView(NamedTuple):
    """One run of a worker, or a call of a tool with its `arguments`."""

    node: str
    arguments: str
    findings: tuple[FindingView, ...]
    error: str


class TrialStep(NamedTuple):
    """A decision and the visits it led to. A step without `chosen` is a visit nobody is on record for."""

    number: str
    chosen: str
    routed: str
    tasks: str
    confidence: str
    reasoning: str
    question: str
    overrides: tuple[str, ...]
    notes: tuple[str, ...]
    context: str
    visits: tuple[VisitView, ...]


class PointView(NamedTuple):
    """A decision point: what is acceptable there, and what was chosen."""

    name: str
    accepted: str
    why: str
    chosen: str
    verdict: str
    reasoning: str


class CallView(NamedTuple):
    """One request to a model. `system`, `shown` and `reply` are numbers of texts; empty where there is no such text."""

    agent: str
    note: str
    system: str
    shown: str
    reply: str


def trial_view(
    trial: Trial,
    case: CaseInfo,
    scorers: Sequence[ScorerInfo],
    route: Ribbon,
    texts: Texts,
    pictures: Pictures,
    recorded: Sequence[RecordedCall | None] = (),
    prompt: str = "",
) -> SimpleNamespace:
    """One trial in ready strings; its long texts go to `texts`, the look of its plan to `pictures`; `scores` is the
    number of a text with a line per scorer. `recorded` is what each of its calls was answered, `prompt` the variant's
    system prompt."""
    trace = trial.trace
    untold = "" if trace.is_target else "don't know"  # a target answers without topics
    return SimpleNamespace(
        variant=trace.variant,
        sample=f"repeat {trace.sample + 1}" if trace.sample else "",
        provenance=str(trace.provenance),
        exact=trace.provenance.label == "exact",
        error=trace.error or "",
        ribbon=route,
        violations=() if trial.reading else trial.hard_violations,  # the reason names them
        reason=reason_of(trial, case),
        decisive=trial.decisive,
        figures=figures_of(trial),
        plan=plan_view(trace.plan, texts, pictures) if trace.plan else None,
        steps=tuple(_steps(trace, texts)),
        exchanges=tuple((item.question, item.answer, item.topic or untold) for item in trace.exchanges),
        output=tuple((name, texts.add(text_of(value))) for name, value in trace.output.items()),
        misses=tuple(miss_view(miss, texts) for miss in (*trace.misses, *trace.point_misses)),
        points=_points(trace, case),
        calls=tuple(call_view(call, words, texts) for call, words in zip_longest(trace.calls, recorded)),
        prompt=texts.add(prompt or "This variant has none."),
        scores=texts.add("\n".join(_score(info, trial.outcomes.get(info.name)) for info in scorers)),
    )


def call_view(call: Call, words: RecordedCall | None, texts: Texts) -> CallView:
    """One request in ready strings."""
    tokens = f"{call.prompt_tokens} + {call.completion_tokens} tokens" if call.prompt_tokens else ""
    numbers = [texts.add(text) if text else "" for text in words or ("", "", "")]
    return CallView(call.agent, " · ".join(filter(None, (call.model, tokens))), *numbers)


def text_of(value: object) -> str:
    """A member of an output: a text as it is, texts a line each, anything else as JSON."""
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return "\n".join(value) or "none"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)


def label_lines(case: CaseInfo) -> list[tuple[str, str]]:
    """The labels of a case by name; checks are a line for each path."""
    lines = []
    for label, told in case.labels.items():
        if isinstance(told, dict):
            for path, checks in told.items():
                words = checks.items() if isinstance(checks, dict) else ()
                lines.append((label, f"{path}: {', '.join(f'{name} {json.dumps(v)}' for name, v in words)}"))
        else:
            lines.append((label, text_of(told)))
    return lines


def _steps(trace: Trace, texts: Texts) -> list[TrialStep]:
    """Decisions with the visits they led to, between visits that nobody decided on."""
    before, *led = visits_by_decision(trace)
    count = len(trace.decisions)
    decided = [step_of(decision, texts, visits) for decision, visits in zip(trace.decisions, led, strict=False)]
    return [
        *(_orphan(group, texts) for group in [before] if group),
        *decided,
        *(_orphan(v, texts) for v in led[count:]),
    ]


def visits_by_decision(trace: Trace) -> list[list[Visit]]:
    """The visits before the first decision, those that each decision led to, then any others, a group per superstep."""
    if trace.names is not None:
        return _behind_routers(trace)
    groups = _visit_groups(trace)
    led = [groups.pop(0) if decision.routed != "end" and groups else [] for decision in trace.decisions]
    return [[], *led, *groups]


def _behind_routers(trace: Trace) -> list[list[Visit]]:
    """Of a target: a decision comes right behind its router's own visit, and says how many nodes ran before that."""
    groups: list[list[Visit]] = [[]]
    places, nodes = {decision.iteration for decision in trace.decisions}, 0
    for visit in trace.visits:
        groups[-1].append(visit)
        if visit.arguments is None:  # a node, no tool
            groups += [[]] if nodes in places else []
            nodes += 1
    return groups + [[]] * (1 + len(trace.decisions) - len(groups))


def _visit_groups(trace: Trace) -> list[list[Visit]]:
    """The visits of one decision after the other: a superstep, and under a plan the reviews in the one right behind."""
    groups: list[list[Visit]] = []
    for superstep, visits in groupby(trace.visits, key=lambda visit: visit.superstep):
        reviews = trace.plan is not None and bool(groups) and groups[-1][-1].superstep == superstep - 1
        if reviews:
            groups[-1] += visits
        else:
            groups.append(list(visits))
    return groups


def step_of(decision: Decision, texts: Texts, visits: Sequence[Visit] = ()) -> TrialStep:
    """One decision in ready strings, with the visits it led to."""
    return TrialStep(
        number=str(decision.index + 1),
        chosen=decision.chosen,
        routed=decision.routed,
        tasks=_tasks(decision) if decision.tasks else "",
        confidence=percent(decision.confidence),
        reasoning=texts.add(decision.reasoning) if decision.reasoning else "",
        question=decision.question or "",
        overrides=tuple(f"{each.rule}: {each.chosen} → {each.send_to}" for each in decision.overrides),
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


def _orphan(visits: Sequence[Visit], texts: Texts) -> TrialStep:
    return TrialStep("", "", "", "", "", "", "", (), (), "", tuple(_visit(visit, texts) for visit in visits))


def _visit(visit: Visit, texts: Texts) -> VisitView:
    arguments = json.dumps(visit.arguments, ensure_ascii=False) if visit.arguments else ""
    return VisitView(
        visit.node, arguments, tuple(_finding(found, texts) for found in visit.findings), visit.error or ""
    )


def _finding(found: Finding, texts: Texts) -> FindingView:
    details = texts.add(found.details) if found.details else ""
    return FindingView(found.summary, percent(found.confidence), details, found.relevant_files)


def _points(trace: Trace, case: CaseInfo) -> tuple[PointView, ...]:
    known = {point.id: point for point in case.points}
    views = []
    for answer in trace.points:
        point = known.get(answer.point)
        grade = point.accept.get(answer.chosen) if point and answer.chosen else None
        views.append(
            PointView(
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

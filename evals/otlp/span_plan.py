"""All spans of a run, one trace per trial."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from evals.application_pack import HERE, load_pack
from evals.models.judge import JudgedRun, endpoint
from evals.models.metrics import Failed, Scored, Skipped
from evals.models.run import CaseInfo, Run, Trial, VariantInfo
from evals.models.trace import Decision, Exchange, Trace, Visit
from evals.otlp import attribute_names as names
from evals.otlp.span_data import (
    NOT_RECORDED,
    ROOT,
    AgentTurn,
    Attribute,
    Attributes,
    PlannedEvent,
    PlannedSpan,
    PlannedTrace,
    Tapes,
    Telling,
    call_spans,
    error_of,
    json_text,
    known,
    looked_up,
    loose_spans,
    said,
    steps_of,
    times_of,
)
from evals.secret_filter import WITHHELD, held_back


def turn_spans(turn: AgentTurn, start: int, telling: Telling) -> list[PlannedSpan]:
    """The turn and what happened in it, one after the other; its span first."""
    found = looked_up(turn, start, telling)
    now = found[-1].end if found else start
    below = [*found, *call_spans(turn.calls, turn.path, now, telling)]
    end = below[-1].end if below else start + telling.nothing
    operation, named = (names.EXECUTE_TOOL, names.TOOL) if turn.is_tool else (names.INVOKE_AGENT, names.AGENT)
    span = PlannedSpan(
        path=turn.path,
        parent=turn.above,
        name=f"{operation} {turn.agent}",
        kind="internal",
        start=start,
        end=end,
        attributes={
            names.OPERATION: operation,
            named: turn.agent,
            **telling.shared,
            **_turn_attributes(turn, telling),
        },
        events=_events(turn, start, end, telling),
    )
    return [span, *below]


def _turn_attributes(turn: AgentTurn, telling: Telling) -> Attributes:
    made, content = turn.made, telling.tapes is not None
    several = {names.CALLS_ORDERED: False} if isinstance(made, Visit) and len(turn.calls) > 1 else {}
    told = (
        _visit(made, content=content, is_target=telling.trace.is_target)
        if isinstance(made, Visit)
        else _decision(made, content=content)
    )
    if turn.decision:
        told |= _decision(turn.decision, content=content)
    return {**known(told), **several, **error_of(made.error, content=content)}


def _visit(visit: Visit, *, content: bool, is_target: bool) -> dict[str, Attribute | None]:
    ours = f"{names.OURS}.visit"
    findings = [finding.model_dump(mode="json") for finding in visit.findings]
    return {
        f"{ours}.superstep": visit.superstep,
        f"{ours}.reviews_task": visit.reviews,
        f"{ours}.findings_count": None if is_target else len(findings),
        f"{ours}.confidence": visit.findings[-1].confidence if findings else None,
        f"{ours}.findings": json_text(findings) if content and findings else None,
    }


def _decision(decision: Decision, *, content: bool) -> dict[str, Attribute | None]:
    ours = f"{names.OURS}.decision"
    return {
        f"{ours}.index": decision.index,
        f"{ours}.iteration": decision.iteration,
        f"{ours}.chosen": decision.chosen,
        f"{ours}.routed": decision.routed,
        f"{ours}.confidence": decision.confidence,
        f"{ours}.overrides": tuple(each.rule for each in decision.overrides),
        f"{ours}.forced_fallback": decision.forced_fallback,
        f"{ours}.corrections": decision.corrections,
        f"{ours}.tasks": tuple(map(str, decision.tasks)),
        f"{ours}.context": decision.context if content else None,
        f"{ours}.reasoning": decision.reasoning if content else None,
        f"{ours}.question": decision.question if content else None,
    }


def _events(turn: AgentTurn, start: int, end: int, telling: Telling) -> tuple[PlannedEvent, ...]:
    if isinstance(turn.made, Decision):
        return tuple(
            PlannedEvent(name=f"{names.OURS}.override", at=end, attributes=each.model_dump())
            for each in turn.made.overrides
        )
    exchange = _exchange(turn.made, turn.number, telling)
    return (_exchange_event(exchange, start, telling),) if exchange else ()


def _exchange(visit: Visit, number: int, telling: Telling) -> Exchange | None:
    """The question of this visit: the n-th visit of its kind asked the n-th one."""
    if visit.node != load_pack().asking_node:
        return None
    earlier = sum(one.node == visit.node for one in telling.trace.visits[:number])
    exchanges = telling.trace.exchanges
    return exchanges[earlier] if earlier < len(exchanges) else None


def _exchange_event(exchange: Exchange, at: int, telling: Telling) -> PlannedEvent:
    """That a user was asked; the words of both only where they are wanted."""
    words = {"question": exchange.question, "answer": exchange.answer} if telling.tapes else {}
    told = known({"known": exchange.topic is not None, "topic": exchange.topic, **words})
    return PlannedEvent(name=f"{names.OURS}.exchange", at=at, attributes=told)


def score_attributes(run: Run, trial: Trial) -> Attributes:
    """The primary scores by name, to be searched for, and which scores were skipped."""
    scored = {scorer.name: trial.outcomes.get(scorer.name) for scorer in run.scorers if scorer.primary}
    skipped = tuple(name for name, outcome in trial.outcomes.items() if isinstance(outcome, Skipped))
    values: dict[str, Attribute | None] = {
        f"{names.OURS}.score.{name}": outcome.value for name, outcome in scored.items() if isinstance(outcome, Scored)
    }
    return known({**values, f"{names.OURS}.scores_skipped": skipped})


def score_events(run: Run, trial: Trial, at: int, *, content: bool) -> tuple[PlannedEvent, ...]:
    """Every score with a value or a failure, then a judge's grades; a judge's reason is content."""
    results = [*_scores(trial, content=content), *_grades(run, trial, content=content)]
    return tuple(PlannedEvent(name=names.SCORE_EVENT, at=at, attributes=result) for result in results)


def _scores(trial: Trial, *, content: bool) -> Iterator[Attributes]:
    for name, outcome in trial.outcomes.items():
        if isinstance(outcome, Scored):
            yield {names.SCORE: name, names.SCORE_VALUE: outcome.value}
        elif isinstance(outcome, Failed):
            yield {names.SCORE: name, **error_of(outcome.error, content=content)}


def _grades(run: Run, trial: Trial, *, content: bool) -> Iterator[Attributes]:
    for question, grade in (run.grades_of(trial.trace) if isinstance(run, JudgedRun) else {}).items():
        why = {names.SCORE_WHY: grade.reason} if content and grade.reason else {}
        yield {names.SCORE: endpoint(question), names.SCORE_LABEL: grade.grade, **why}


def planned_traces(run: Run, trials: Sequence[Trial], tapes: Tapes | None = None) -> Iterator[PlannedTrace]:
    """A trace for each of these trials of the run. With `tapes`, contents too: messages, findings, reports, reasons.

    Raises:
        CassetteError: contents are wanted, and a cassette cannot be trusted.
    """
    digest = run.content_sha256 or run.sealed().content_sha256
    resource = _resource(run, digest)
    setting, usual = next(iter(load_pack().usual_settings.items()), ("", ""))
    cases = {case.id: case for case in run.cases}
    variants = {info.variant.name: info for info in run.variants}
    for trial in trials:
        trace = trial.trace
        case, info = cases[trace.case_id], variants[trace.variant]
        name = f"{run.suite}/{trace.case_id}/{trace.variant}/{trace.sample}@{digest[:12]}"
        telling = Telling(trace, info.variant.models, times_of(trace), name, tapes)
        spans = _spans(trace, telling, asks_once=info.variant.settings.get(setting, usual) == usual)
        root = _root(run, trial, case, info, telling, max((span.end for span in spans), default=telling.nothing))
        identity = (digest, trace.case_id, trace.variant, str(trace.sample))
        yield PlannedTrace(identity=identity, resource=resource, spans=(root, *spans))


def _resource(run: Run, digest: str) -> Attributes:
    ours = names.OURS
    return known(
        {
            names.SERVICE: "triage-evals",
            f"{ours}.run.sha256": digest,
            f"{ours}.run.schema_version": run.schema_version,
            f"{ours}.suite": run.suite,
            f"{ours}.candidate": run.candidate,
            f"{ours}.reference": run.reference,
            f"{ours}.verdict": run.verdict.status,
            f"{ours}.recorded_by": run.recorded_by,
        }
    )


def _spans(trace: Trace, telling: Telling, *, asks_once: bool) -> list[PlannedSpan]:
    """All but the root: turns of a step begin together, and the next step when the last of them has ended."""
    spans: list[PlannedSpan] = []
    now = 0
    for step in steps_of(trace, asks_once=asks_once):
        laid = [span for turn in step.turns for span in turn_spans(turn, now, telling)]
        laid += loose_spans(step, now, telling)
        spans += laid
        now = max((span.end for span in laid), default=now)
    return _enclosing(spans)


def _enclosing(spans: Sequence[PlannedSpan]) -> list[PlannedSpan]:
    """The spans, each as long as what is below it; those above come first."""
    ends: dict[str | None, int] = {}
    for span in reversed(spans):
        ends[span.path] = max(span.end, ends.get(span.path, 0))
        ends[span.parent] = max(ends[span.path], ends.get(span.parent, 0))
    return [span if span.end == ends[span.path] else span.model_copy(update={"end": ends[span.path]}) for span in spans]


def _root(run: Run, trial: Trial, case: CaseInfo, info: VariantInfo, telling: Telling, end: int) -> PlannedSpan:
    workflow = run.suite if trial.trace.is_target else load_pack().folder(HERE).name
    return PlannedSpan(
        path=ROOT,
        parent=None,
        name=f"{names.INVOKE_WORKFLOW} {workflow}",
        kind="internal",
        start=0,
        end=end,
        attributes={
            names.OPERATION: names.INVOKE_WORKFLOW,
            names.WORKFLOW: workflow,
            **telling.shared,
            **_told(trial.trace, case, info),
            **score_attributes(run, trial),
            **_failure(trial.trace, content=telling.tapes is not None),
            **(_words(trial.trace, case) if telling.tapes else {}),
        },
        events=(
            *_misses(trial.trace, end),
            *score_events(run, trial, end, content=telling.tapes is not None),
        ),
    )


def _told(trace: Trace, case: CaseInfo, info: VariantInfo) -> Attributes:
    ours, variant = names.OURS, info.variant
    return known(
        {
            f"{ours}.case": trace.case_id,
            f"{ours}.variant": trace.variant,
            f"{ours}.sample": trace.sample,
            f"{ours}.provenance": str(trace.provenance),
            f"{ours}.slice": case.slice,
            f"{ours}.split": case.split,
            **{f"{ours}.{name}": variant.settings.get(name) for name in load_pack().usual_settings},
            f"{ours}.prompt.version": info.prompt_version,
            f"{ours}.prompt.sha256": info.prompt_digest,
            f"{ours}.route": trace.route,
        }
    )


def _failure(trace: Trace, *, content: bool) -> Attributes:
    """A trial that broke, or that ends where the tape does, has not come to its end."""
    if trace.provenance.label == "failed":
        return error_of(trace.error or "", content=content)
    return {} if trace.provenance.label == "exact" else {names.ERROR_TYPE: NOT_RECORDED}


def _misses(trace: Trace, at: int) -> tuple[PlannedEvent, ...]:
    return tuple(
        PlannedEvent(
            name=f"{names.OURS}.miss",
            at=at,
            attributes=known(
                {"agent": miss.agent, "model": miss.model, "decision": miss.decision, "request_sha256": miss.key}
            ),
        )
        for miss in trace.misses
    )


def _words(trace: Trace, case: CaseInfo) -> Attributes:
    """The issue, and what the team wrote about it."""
    output = json_text(trace.output) if trace.output else ""
    return known(
        {
            names.INPUT_MESSAGES: said("user", f"{case.title}\n\n{case.body}"),
            names.OUTPUT_MESSAGES: said("assistant", output, finish_reason="stop") if output else None,
        }
    )


class Count:
    """Counts the traces that pass through it, each made fit to leave on its way."""

    def __init__(self, run: Path) -> None:
        self._run = run
        self.traces = 0
        self.withheld = 0
        self._spans: Counter[str] = Counter()
        self._events = 0
        self._times: Counter[str] = Counter()

    def passing(self, traces: Iterable[PlannedTrace]) -> Iterator[PlannedTrace]:
        """The traces, every text withheld that a cassette beside the run would refuse.

        Raises:
            ConfigurationError: the file of allowed secrets is wrong.
        """
        for trace in traces:
            fit = held_back(trace, self._run)
            self._add(fit)
            yield fit

    def __str__(self) -> str:
        of_kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(self._spans.items()))
        times = ", ".join(f"{count} {kind}" for kind, count in sorted(self._times.items()))
        withheld = f"; texts withheld, since they hold a secret: {self.withheld}" if self.withheld else ""
        traces = f"{self.traces} {'trace' if self.traces == 1 else 'traces'}"
        spans = f"{self._spans.total()} spans ({of_kinds})"
        return f"{traces} with {spans} and {self._events} events; times: {times}{withheld}"

    def _add(self, trace: PlannedTrace) -> None:
        self.traces += 1
        self.withheld += trace.model_dump_json().count(WITHHELD)
        for span in trace.spans:
            self._spans[str(span.attributes[names.OPERATION])] += 1
            self._events += len(span.events)
            if span.path == ROOT:
                self._times[str(span.attributes[names.TIMES])] += 1

"""One turn of an agent as spans: the visit or decision, and below it what it did."""

import json

from evals.models.trace import Decision, Exchange, Visit
from evals.otlp import names
from evals.otlp.calls import call_spans, looked_up
from evals.otlp.errors import error_of
from evals.otlp.planned import ROOT, Attribute, Attributes, PlannedEvent, PlannedSpan, known
from evals.otlp.steps import Turn
from evals.otlp.telling import Telling


def turn_spans(turn: Turn, start: int, telling: Telling) -> list[PlannedSpan]:
    """The turn and what happened in it, one after the other; its span first."""
    found = looked_up(turn, start, telling)
    now = found[-1].end if found else start
    below = [*found, *call_spans(turn.calls, turn.path, now, telling)]
    end = below[-1].end if below else start + telling.nothing
    span = PlannedSpan(
        path=turn.path,
        parent=ROOT,
        name=f"{names.INVOKE_AGENT} {turn.agent}",
        kind="internal",
        start=start,
        end=end,
        attributes={
            names.OPERATION: names.INVOKE_AGENT,
            names.AGENT: turn.agent,
            **telling.shared,
            **_turn_attributes(turn, telling),
        },
        events=_events(turn, start, end, telling),
    )
    return [span, *below]


def _turn_attributes(turn: Turn, telling: Telling) -> Attributes:
    made, content = turn.made, telling.tapes is not None
    several = {names.CALLS_ORDERED: False} if isinstance(made, Visit) and len(turn.calls) > 1 else {}
    told = _visit(made, content=content) if isinstance(made, Visit) else _decision(made, content=content)
    return {**known(told), **several, **error_of(made.error, content=content)}


def _visit(visit: Visit, *, content: bool) -> dict[str, Attribute | None]:
    ours = f"{names.OURS}.visit"
    findings = [finding.model_dump(mode="json") for finding in visit.findings]
    return {
        f"{ours}.superstep": visit.superstep,
        f"{ours}.reviews_task": visit.reviews,
        f"{ours}.findings_count": len(findings),
        f"{ours}.confidence": visit.findings[-1].confidence if findings else None,
        f"{ours}.findings": _json(findings) if content and findings else None,
    }


def _decision(decision: Decision, *, content: bool) -> dict[str, Attribute | None]:
    ours = f"{names.OURS}.decision"
    return {
        f"{ours}.index": decision.index,
        f"{ours}.iteration": decision.iteration,
        f"{ours}.chosen": decision.chosen,
        f"{ours}.routed": decision.routed,
        f"{ours}.confidence": decision.confidence,
        f"{ours}.vetoes": tuple(veto.guard for veto in decision.vetoes),
        f"{ours}.forced_fallback": decision.forced_fallback,
        f"{ours}.corrections": decision.corrections,
        f"{ours}.tasks": tuple(map(str, decision.tasks)),
        f"{ours}.context": decision.context if content else None,
        f"{ours}.reasoning": decision.reasoning if content else None,
        f"{ours}.question": decision.question if content else None,
    }


def _events(turn: Turn, start: int, end: int, telling: Telling) -> tuple[PlannedEvent, ...]:
    if isinstance(turn.made, Decision):
        return tuple(
            PlannedEvent(name=f"{names.OURS}.veto", at=end, attributes=veto.model_dump()) for veto in turn.made.vetoes
        )
    exchange = _exchange(turn.made, turn.number, telling)
    return (_exchange_event(exchange, start, telling),) if exchange else ()


def _exchange(visit: Visit, number: int, telling: Telling) -> Exchange | None:
    """The question of this visit: the n-th visit of its kind asked the n-th one."""
    if visit.node != "human_input":
        return None
    earlier = sum(one.node == "human_input" for one in telling.trace.visits[:number])
    exchanges = telling.trace.exchanges
    return exchanges[earlier] if earlier < len(exchanges) else None


def _exchange_event(exchange: Exchange, at: int, telling: Telling) -> PlannedEvent:
    """That a user was asked; the words of both only where they are wanted."""
    words = {"question": exchange.question, "answer": exchange.answer} if telling.tapes else {}
    told = known({"known": exchange.topic is not None, "topic": exchange.topic, **words})
    return PlannedEvent(name=f"{names.OURS}.exchange", at=at, attributes=told)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)

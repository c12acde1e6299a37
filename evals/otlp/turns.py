"""One turn of an agent as spans: the visit or decision, and below it its calls and what it looked up."""

import json
from dataclasses import dataclass

from evals.models.suite import Models
from evals.models.trace import Call, Decision, Exchange, Trace, Visit
from evals.otlp import names
from evals.otlp.errors import error_of
from evals.otlp.planned import ROOT, Attribute, Attributes, PlannedEvent, PlannedSpan, Times, known
from evals.otlp.steps import Calls, Turn
from evals.otlp.tapes import Tapes

TICK = 1_000_000
"""Nanoseconds a step is drawn with where nobody knows how long it took."""
PROVIDER = "openai"
"""The protocol the graph's client speaks, and so the recordings; not who answered: that is the model's name."""
WEB_TOOL, CODE_TOOL = "tavily_search", "codebase_index"


@dataclass(frozen=True)
class Telling:
    """How a trial is told: what its times are, and its words, where they are wanted."""

    trace: Trace
    models: Models
    times: Times
    conversation: str
    tapes: Tapes | None

    @property
    def shared(self) -> Attributes:
        """What every span says."""
        return {names.CONVERSATION: self.conversation, names.TIMES: self.times}

    @property
    def nothing(self) -> int:
        """How long a step without calls is drawn, in nanoseconds."""
        return TICK if self.times == "order" else 0


def times_of(trace: Trace) -> Times:
    """`recorded` only where every call of the trial says how long it took."""
    return "recorded" if trace.calls and all(call.latency_ms > 0 for call in trace.calls) else "order"


def turn_spans(turn: Turn, start: int, telling: Telling) -> list[PlannedSpan]:
    """The turn and what happened in it, one after the other; its span first."""
    looked_up = _looked_up(turn, start, telling)
    now = looked_up[-1].end if looked_up else start
    below = [*looked_up, *call_spans(turn.calls, turn.path, now, telling)]
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


def call_spans(calls: Calls, parent: str, start: int, telling: Telling) -> list[PlannedSpan]:
    """The calls one after the other; below the root itself stand those whose turn is not known."""
    spans, now = [], start
    for number, call in calls:
        length = round(call.latency_ms * 1e6) if telling.times == "recorded" else TICK
        made = _tool(WEB_TOOL, "extension") if not call.model else _chat(call, telling.models)
        words = telling.tapes.words_of(call, telling.trace.case_id, telling.trace.sample) if telling.tapes else {}
        spans.append(
            PlannedSpan(
                path=f"call {number}",
                parent=parent,
                name=f"{made[names.OPERATION]} {call.model or WEB_TOOL}",
                kind="client" if call.model else "internal",
                start=now,
                end=now + length,
                attributes={**made, **telling.shared, **_call(call), **words, names.PLACED: parent != ROOT},
            )
        )
        now += length
    return spans


def _looked_up(turn: Turn, start: int, telling: Telling) -> list[PlannedSpan]:
    """What a code search was shown before its model was asked: the trace keeps that, and no time."""
    if not isinstance(turn.made, Visit) or not turn.made.read:
        return []
    result = known({names.TOOL_RESULT: _json(list(turn.made.read)) if telling.tapes else None})
    return [
        PlannedSpan(
            path=f"{turn.path} lookup",
            parent=turn.path,
            name=f"{names.EXECUTE_TOOL} {CODE_TOOL}",
            kind="internal",
            start=start,
            end=start + telling.nothing,
            attributes={
                **_tool(CODE_TOOL, "datastore"),
                **telling.shared,
                f"{names.OURS}.places_read": len(turn.made.read),
                **result,
            },
        )
    ]


def _tool(name: str, kind: str) -> Attributes:
    return {names.OPERATION: names.EXECUTE_TOOL, names.TOOL: name, names.TOOL_TYPE: kind}


def _chat(call: Call, models: Models) -> Attributes:
    return known(
        {
            names.OPERATION: names.CHAT,
            names.PROVIDER: PROVIDER,
            names.REQUEST_MODEL: call.model if call.model == models.fallback else models.of(call.agent),
            names.RESPONSE_MODEL: call.model,
            names.INPUT_TOKENS: call.prompt_tokens or None,
            names.OUTPUT_TOKENS: call.completion_tokens or None,
            f"{names.OURS}.tokens_counted_by": models.tokens_counted_by,
        }
    )


def _call(call: Call) -> Attributes:
    return known(
        {
            names.AGENT: call.agent,
            f"{names.OURS}.request_sha256": call.key,
            f"{names.OURS}.recorded_by": call.recorded_by,
            f"{names.OURS}.latency_ms": call.latency_ms or None,
        }
    )


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
        f"{ours}.findings": len(findings),
        f"{ours}.confidence": visit.findings[-1].confidence if findings else None,
        f"{ours}.findings.json": _json(findings) if content and findings else None,
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

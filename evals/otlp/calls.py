"""What an agent did in its turn, as spans: requests to a model, searches of the web and of the code."""

import json
from typing import Final

from evals.models.suite import Models
from evals.models.trace import Call, Visit
from evals.otlp import names
from evals.otlp.planned import ROOT, Attributes, PlannedSpan, known
from evals.otlp.steps import Calls, Turn
from evals.otlp.telling import TICK, Telling

PROVIDER: Final = "openai"
"""The protocol the graph's client speaks, and so the recordings; not who answered: that is the model's name."""
WEB_TOOL: Final = "tavily_search"
CODE_TOOL: Final = "codebase_index"


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


def looked_up(turn: Turn, start: int, telling: Telling) -> list[PlannedSpan]:
    """What a code search was shown before its model was asked: the trace keeps that, and no time."""
    if not isinstance(turn.made, Visit) or not turn.made.read:
        return []
    result = known({names.TOOL_RESULT: json.dumps(turn.made.read, ensure_ascii=False) if telling.tapes else None})
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

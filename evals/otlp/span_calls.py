"""Model and search calls of an agent as spans."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from evals.application_pack import load_pack
from evals.models.suite import Models
from evals.models.trace import Call, Decision, Trace, Visit
from evals.otlp import attribute_names as names
from evals.otlp.planned_spans import ROOT, TICK, Attributes, PlannedSpan, Telling, known

Calls = tuple[tuple[int, Call], ...]
"""Calls with their places among all of the trial."""


@dataclass(frozen=True)
class AgentTurn:
    """One visit of a worker or one decision of the router; `number` counts its kind from 0."""

    number: int
    made: Visit | Decision
    calls: Calls = ()
    decision: Decision | None = None
    """What a step of a target decided."""

    @property
    def agent(self) -> str:
        """The agent whose turn it was."""
        return self.made.node if isinstance(self.made, Visit) else load_pack().router

    @property
    def caller(self) -> str:
        """The name its calls have: a named agent calls its model in the node `model`."""
        made = self.made
        return made.agent if isinstance(made, Visit) and made.node == "model" and made.agent else self.agent

    @property
    def above(self) -> str:
        """The path of the span that this one is below."""
        below = self.made.below if isinstance(self.made, Visit) else None
        return ROOT if below is None else f"visit {below}"

    @property
    def is_tool(self) -> bool:
        """Whether it is a call of a target's tool."""
        return isinstance(self.made, Visit) and self.made.arguments is not None

    @property
    def path(self) -> str:
        """What names it among all of its trial."""
        return f"{'visit' if isinstance(self.made, Visit) else 'decision'} {self.number}"


@dataclass(frozen=True)
class TurnGroup:
    """Turns that ran side by side, and the calls of which the trace does not tell whose turn made them."""

    turns: tuple[AgentTurn, ...]
    loose: Calls = ()


def steps_of(trace: Trace, *, asks_once: bool = True) -> tuple[TurnGroup, ...]:
    """The trial in order; calls of a step that was cut off by a miss come last, in a step without turns. `asks_once`:
    whether a decision takes one call, and one more per correction."""
    sides = _sides(trace)
    needs = [_calls_needed(side, asks_once=asks_once) for side in sides]
    given, left = _dealt(trace.calls, sides, needs)
    steps = tuple(_step(place, sides, given, needs[place]) for place in range(len(sides)))
    return (*steps, TurnGroup((), left)) if left else steps


def _sides(trace: Trace) -> list[tuple[AgentTurn, ...]]:
    """A decision comes after as many visits as its iteration says."""
    waiting = [] if trace.is_target else [AgentTurn(number, made) for number, made in enumerate(trace.decisions)]
    sides: list[tuple[AgentTurn, ...]] = []
    decided = trace.decided
    visits = [AgentTurn(number, made, decision=decided.get(number)) for number, made in enumerate(trace.visits)]
    for _, side in groupby(visits, key=lambda turn: trace.visits[turn.number].superstep):
        beside = tuple(side)
        while waiting and trace.decisions[waiting[0].number].iteration <= beside[0].number:
            sides.append((waiting.pop(0),))
        sides.append(beside)
    return sides + [(turn,) for turn in waiting]


def _calls_needed(side: tuple[AgentTurn, ...], *, asks_once: bool) -> int | None:
    """How many calls a step takes, where that is known; a decision that needs more than it got was cut off."""
    (made, *others) = [turn.made for turn in side]
    return 1 + made.corrections if isinstance(made, Decision) and asks_once and not others else None


def _dealt(
    calls: Sequence[Call], sides: Sequence[tuple[AgentTurn, ...]], needs: Sequence[int | None]
) -> tuple[list[Calls], Calls]:
    """Each call to the first step from the last one on that has a turn of its agent, and room; the rest had none."""
    given: list[Calls] = [() for _ in sides]
    left: Calls = ()
    here = 0
    for numbered in enumerate(calls):
        found = next(
            (
                place
                for place in range(here, len(sides))
                if _has(sides[place], numbered[1].agent) and len(given[place]) != needs[place]
            ),
            None,
        )
        if found is None:
            left += (numbered,)
            continue
        here = found
        given[here] += (numbered,)
    return given, left


def _step(place: int, sides: Sequence[tuple[AgentTurn, ...]], given: Sequence[Calls], needed: int | None) -> TurnGroup:
    told = len(given[place]) == needed
    sure = {agent for agent in _agents(given[place]) if told or _is_sure(agent, place, sides, given)}
    turns = tuple(replace(turn, calls=_of({turn.caller} & sure, given[place])) for turn in sides[place])
    return TurnGroup(turns, _of(_agents(given[place]) - sure, given[place]))


def _is_sure(agent: str, place: int, sides: Sequence[tuple[AgentTurn, ...]], given: Sequence[Calls]) -> bool:
    """Whether one turn alone can have made the agent's calls: no other beside it, and none that follows without a call
    of anybody else in between."""
    if sum(turn.caller == agent for turn in sides[place]) != 1:
        return False
    for later in range(place + 1, len(sides)):
        if _has(sides[later], agent) and agent not in _agents(given[later]):
            return False
        if given[later]:
            return True
    return True


def _has(side: tuple[AgentTurn, ...], agent: str) -> bool:
    return any(turn.caller == agent for turn in side)


def _agents(calls: Calls) -> set[str]:
    return {call.agent for _, call in calls}


def _of(agents: set[str], calls: Calls) -> Calls:
    return tuple(numbered for numbered in calls if numbered[1].agent in agents)


PROVIDER: Final = "openai"
"""The protocol the graph's client speaks, and so the recordings; not who answered: that is the model's name."""
WEB_TOOL: Final = "tavily_search"
CODE_TOOL: Final = "codebase_index"


def loose_spans(step: TurnGroup, start: int, telling: Telling) -> list[PlannedSpan]:
    """Calls whose turn is not known: below what started their agent, where that is known, else below the root."""
    spans: list[PlannedSpan] = []
    for numbered in step.loose:
        above = {turn.above for turn in step.turns if turn.caller == numbered[1].agent}
        parent = above.pop() if len(above) == 1 else ROOT
        spans += call_spans((numbered,), parent, spans[-1].end if spans else start, telling, placed=False)
    return spans


def call_spans(calls: Calls, parent: str, start: int, telling: Telling, *, placed: bool = True) -> list[PlannedSpan]:
    """The calls one after the other; `placed` if it is known whose turn made them."""
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
                attributes={**made, **telling.shared, **_call(call), **words, names.PLACED: placed},
            )
        )
        now += length
    return spans


def looked_up(turn: AgentTurn, start: int, telling: Telling) -> list[PlannedSpan]:
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

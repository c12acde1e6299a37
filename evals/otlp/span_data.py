"""Spans as plain data, with messages and errors: of trials, and of the model and search calls of an agent."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from evals.application_pack import load_pack
from evals.cassettes.cassette_data import Cassette, Interaction
from evals.cassettes.cassette_files import FOLDER, Readings, load
from evals.models.base import Closed
from evals.models.suite import Models
from evals.models.trace import Call, Decision, Trace, Visit
from evals.otlp import attribute_names as names
from evals.secret_filter import AllowedSecrets, allowed_beside, fit_to_write
from evals.workspace import Workspace

Attribute = bool | int | float | str | tuple[str, ...]
Attributes = dict[str, Attribute]
Times = Literal["recorded", "order"]
"""`recorded`: as long as each call took when it was recorded. `order`: nobody knows; one came before the other."""
Ns = Annotated[int, Field(ge=0)]
"""Nanoseconds since the trial began."""
ROOT: Final = "trial"


class PlannedEvent(Closed):
    """Something that happened at one moment of a span."""

    name: str
    at: Ns
    attributes: Attributes


class PlannedSpan(Closed):
    """A span: `path` tells it from all others of its trace and names the same step in every export; the root has no
    `parent`, the path of another one. It has failed where its attributes have an `error.type`."""

    path: str
    parent: str | None
    name: str
    kind: Literal["internal", "client"]
    start: Ns
    end: Ns
    attributes: Attributes
    events: tuple[PlannedEvent, ...] = ()


class PlannedTrace(Closed):
    """One trial, parents before their children. `identity` is what makes it this trace and no other: the run's digest,
    case, variant, sample."""

    identity: tuple[str, ...]
    resource: Attributes
    spans: tuple[PlannedSpan, ...]


def known(attributes: Mapping[str, Attribute | None]) -> Attributes:
    """Those that have a value: what nobody knows is left out, never sent as 0 or as an empty text."""
    return {name: value for name, value in attributes.items() if value is not None and value not in ("", ())}


OTHER: Final = "_OTHER"
"""The conventions' word for an error whose kind is not known."""
NOT_RECORDED: Final = "not_recorded"
_KIND: Final = re.compile(r"\w*(?:Error|Exception|Timeout)\b")


def error_of(text: str | None, *, content: bool) -> Attributes:
    """`error.type` is the exception's class where the text begins with one; nothing where nothing went wrong."""
    if text is None:
        return {}
    kind = _KIND.match(text)
    return known({names.ERROR_TYPE: kind.group() if kind else OTHER, names.ERROR: text if content else None})


Json = Mapping[str, Any]


def asked(request: Json) -> str:
    """`gen_ai.input.messages`: what the model was told, in order, its system prompt included."""
    return json_text([_message(message) for message in _mappings(request.get("messages"))])


def answered(response: Json) -> str:
    """`gen_ai.output.messages`: one message per choice, and why it ended."""
    return json_text(
        [
            {**_message(choice.get("message") or {}, "assistant"), "finish_reason": str(choice.get("finish_reason"))}
            for choice in _mappings(response.get("choices"))
        ]
    )


def said(role: str, text: str, **more: str) -> str:
    """Messages that consist of one text; `more` are further members of it."""
    return json_text([{"role": role, "parts": [_words_messages(text)], **more}])


def _message(message: Json, role: str = "user") -> dict[str, Any]:
    role = str(message.get("role") or role)
    if role == "tool":
        answer = {
            "type": "tool_call_response",
            "id": _call_id(message.get("tool_call_id")),
            "response": message.get("content"),
        }
        return {"role": role, "parts": [answer]}
    return {"role": role, "parts": [*_content(message.get("content")), *_tool_calls(message.get("tool_calls"))]}


def _content(content: object) -> Iterable[dict[str, Any]]:
    if isinstance(content, str):
        return [_words_messages(content)] if content else []
    return [{**part, "type": str(part.get("type") or "text")} for part in _mappings(content)]


def _tool_calls(calls: object) -> Iterable[dict[str, Any]]:
    for call in _mappings(calls):
        function = call.get("function") or {}
        yield {
            "type": "tool_call",
            "id": _call_id(call.get("id")),
            "name": str(function.get("name")),
            "arguments": function.get("arguments"),
        }


def _call_id(told: object) -> str | None:
    """A digest of it: a protocol's ids are random, and what is random may be a secret; it still tells calls apart."""
    return f"call_{hashlib.sha256(str(told).encode()).hexdigest()[:24]}" if told else None


def _words_messages(text: str) -> dict[str, Any]:
    return {"type": "text", "content": text}


def _mappings(value: object) -> list[Json]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def json_text(value: object) -> str:
    """The value as JSON, letters of any script as they are."""
    return json.dumps(value, ensure_ascii=False)


class Tapes:
    """The cassettes of a checkout. `untold` counts the calls that none of them holds."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.untold = 0

    def words_of(self, call: Call, case: str, sample: int) -> Attributes:
        """What was asked and answered, in the conventions' form; nothing where it is not on tape.

        Raises:
            CassetteError: the case's cassette cannot be trusted.
        """
        cassette, allowed = self._case(case)
        interaction = cassette.exact(call.key, sample)
        if interaction is None:
            self.untold += 1
            return {}
        return {name: _fit(text, allowed) for name, text in _words(interaction).items() if text}

    @lru_cache(maxsize=2)  # noqa: B019 - as short-lived as the export; trials of one case follow each other
    def _case(self, case: str) -> tuple[Cassette, AllowedSecrets]:
        path = self._workspace.cassette(case)
        return load(path, Readings(self._workspace.cache / FOLDER)), allowed_beside(path)


def _words(interaction: Interaction) -> Mapping[str, str]:
    if "choices" not in interaction.response:  # a search engine has answered, no model
        return {
            names.TOOL_ARGUMENTS: json_text(dict(interaction.request)),
            names.TOOL_RESULT: json_text(dict(interaction.response)),
        }
    return {
        names.INPUT_MESSAGES: asked(interaction.request),
        names.OUTPUT_MESSAGES: answered(interaction.response),
    }


def _fit(text: str, allowed: AllowedSecrets) -> str:
    """Only the part that holds a secret is withheld, not the whole conversation; half a character is none."""
    return fit_to_write(text.encode("utf-8", "replace").decode(), allowed)


TICK: Final = 1_000_000
"""Nanoseconds a step is drawn with where nobody knows how long it took."""


@dataclass(frozen=True)
class Telling:
    """What the spans of one trial have in common. `tapes` hold its words, where they are wanted."""

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

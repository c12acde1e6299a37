"""Spans as plain data, with messages and errors."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from evals.cassettes.cassette_files import FOLDER, Readings, load
from evals.cassettes.interaction import Cassette, Interaction
from evals.models.base import Closed
from evals.models.suite import Models
from evals.models.trace import Call, Trace
from evals.otlp import attribute_names as names
from evals.secrets.secret_filter import AllowedSecrets, allowed_beside, fit_to_write
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

"""Recorded requests and answers as the conventions spell messages: a role and its parts, as JSON text.

The schemas are `gen-ai-input-messages.json` and `gen-ai-output-messages.json` of the conventions.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

Json = Mapping[str, Any]


def asked(request: Json) -> str:
    """`gen_ai.input.messages`: what the model was told, in order, its system prompt included."""
    return _text([_message(message) for message in _mappings(request.get("messages"))])


def answered(response: Json) -> str:
    """`gen_ai.output.messages`: one message per choice, and why it ended."""
    return _text(
        [
            {**_message(choice.get("message") or {}, "assistant"), "finish_reason": str(choice.get("finish_reason"))}
            for choice in _mappings(response.get("choices"))
        ]
    )


def looked_for(request: Json) -> str:
    """`gen_ai.tool.call.arguments`: what was put to the search engine."""
    return _text(dict(request))


def found(response: Json) -> str:
    """`gen_ai.tool.call.result`: what it gave."""
    return _text(dict(response))


def said(role: str, text: str, **more: str) -> str:
    """Messages that consist of one text; `more` are further members of it."""
    return _text([{"role": role, "parts": [_words(text)], **more}])


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
        return [_words(content)] if content else []
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


def _words(text: str) -> dict[str, Any]:
    return {"type": "text", "content": text}


def _mappings(value: object) -> list[Json]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)

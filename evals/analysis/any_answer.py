"""What answers of any graph's models say that can be compared: values of schemas that are no free text."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

Json = Mapping[str, Any]
_NO_TEXT: Final = frozenset({"boolean", "integer", "number"})


def plain_fields(schema: Json) -> list[str]:
    """Properties of an object's schema whose values are flags, numbers or one of a list of words."""
    known = schema.get("$defs") or {}

    def forms(value: Json) -> Iterator[Json]:
        value = known.get(str(value.get("$ref", "")).rpartition("/")[2], value)
        yield value
        for each in value.get("anyOf", ()):
            yield from forms(each)

    def is_plain(value: Json) -> bool:
        return any("enum" in form or "const" in form or form.get("type") in _NO_TEXT for form in forms(value))

    return [name for name, value in (schema.get("properties") or {}).items() if is_plain(value)]


def whole_answer(response: Json) -> Json:
    """The answer of a chat completion; put together where it was recorded as a stream."""
    if "x_events" not in response:
        return response
    text, calls, ended = "", dict[int, dict[str, str]](), "stop"
    data = (event["data"] for event in response["x_events"] if isinstance(event.get("data"), dict))
    for choice in (choice for each in data for choice in each.get("choices") or ()):
        text += choice["delta"].get("content") or ""
        ended = choice.get("finish_reason") or ended
        for call in choice["delta"].get("tool_calls") or ():
            kept = calls.setdefault(call.get("index", 0), {"name": "", "arguments": ""})
            for name in kept:
                kept[name] += (call.get("function") or {}).get(name) or ""
    message = {"content": text or None, "tool_calls": [{"function": call} for call in calls.values()]}
    return {**response, "choices": [{"index": 0, "message": message, "finish_reason": ended}]}

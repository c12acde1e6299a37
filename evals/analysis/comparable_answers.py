"""What answers of any graph's models say that can be compared: values of schemas that are no free text."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, Final

from evals.models.trace import Trace

Json = Mapping[str, Any]
_NO_TEXT: Final = frozenset({"boolean", "integer", "number"})


def routers_of(traces: Sequence[Trace], router: str) -> frozenset[str]:
    """Agents that decide where the graph goes, as requests name them: of a target those of the steps that decide, else
    the `router` of the pack."""
    made = [trace.visits[place] for trace in traces for place in trace.decided]
    names = (visit.agent if visit.node == "model" and visit.agent else visit.node for visit in made)
    return frozenset(names) if any(trace.is_target for trace in traces) else frozenset({router})


def plain_readers(schema: Json, together: str | None) -> dict[str, Callable[[Json], Hashable]]:
    """Readers of the properties of a schema whose values are flags, numbers or one of a list of words; one of all of
    them, where they are called something `together`."""
    known = schema.get("$defs") or {}

    def forms(value: Json) -> Iterator[Json]:
        value = known.get(str(value.get("$ref", "")).rpartition("/")[2], value)
        yield value
        for each in value.get("anyOf", ()):
            yield from forms(each)

    def is_plain(value: Json) -> bool:
        return any("enum" in form or "const" in form or form.get("type") in _NO_TEXT for form in forms(value))

    found = schema.get("properties") or {}
    names = [name for name, value in found.items() if name != "confidence" and is_plain(value)]
    if together is not None:
        return {together: lambda said: ", ".join(str(said.get(name)) for name in names)} if names else {}
    return {name: lambda said, name=name: repr(said.get(name)) for name in names}  # type: ignore[misc]


def as_chat_completion(response: Json) -> Json:
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

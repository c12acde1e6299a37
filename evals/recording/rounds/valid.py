"""Does an answer fit what its request demands: the schema of a structured answer, the parameters of a tool."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # the package carries no types
from jsonschema.exceptions import best_match  # type: ignore[import-untyped]

from evals.cassette.key import parse_json
from evals.cassette.redact import scrub

_SHOWN: Final = 200  # characters of a validator's sentence, which may quote a whole answer


def fault(request: Mapping[str, Any], answer: Mapping[str, Any]) -> str | None:
    """The first thing a chat answer gets wrong, None if it fits. A refusal is an answer of its own, and fits."""
    return next((found for choice in answer.get("choices", ()) for found in _faults(request, choice)), None)


def _faults(request: Mapping[str, Any], choice: Mapping[str, Any]) -> Iterator[str]:
    message = choice["message"]
    calls = message.get("tool_calls") or ()
    for call in calls:
        yield from _call_faults(request, call.get("function") or {})
    form = request.get("response_format") or {}
    if not calls and not message.get("refusal") and form.get("type") in ("json_schema", "json_object"):
        schema = (form.get("json_schema") or {}).get("schema") or {"type": "object"}
        ended = f" (it ended by {choice['finish_reason']!r})" if choice["finish_reason"] != "stop" else ""
        yield from (f"{found}{ended}" for found in _misfits(message.get("content"), schema, "the content"))


def _call_faults(request: Mapping[str, Any], called: Mapping[str, Any]) -> Iterator[str]:
    offered = {tool["function"]["name"]: tool["function"] for tool in request.get("tools") or () if "function" in tool}
    name = called.get("name")
    if name not in offered:
        yield f"the tool {name!r} was not offered, only {', '.join(offered) or 'none'}"
    else:
        yield from _misfits(called.get("arguments"), offered[name].get("parameters") or {}, f"the call of {name}")


def _misfits(text: object, schema: Mapping[str, Any], what: str) -> Iterator[str]:
    """What is wrong with JSON text, by the validator's own judgement of what matters most."""
    try:
        value = parse_json(text if isinstance(text, str) else "")
    except ValueError:
        yield f"{what} is not whole JSON"
        return
    error = best_match(Draft202012Validator(schema).iter_errors(value))
    if error is not None:
        yield f"{error.json_path}: {scrub(error.message)[:_SHOWN]}"

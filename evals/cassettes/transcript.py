"""Recorded traffic as a readable conversation."""

import hashlib
import json
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from textwrap import indent
from typing import Any, Final

from pydantic_core import PydanticSerializationError, from_json, to_json

from evals.cassettes.cassette_data import Cassette, Interaction
from evals.cassettes.request_key import parse_json
from evals.content_cache import Kept, digest_of
from evals.shared.display_text import visible
from evals.source_loader import digest_of_code

SHORT: Final = 12  # characters of a key that tell two requests apart
_SPOKEN: Final = frozenset({"messages", "response_format", "tools", "model"})  # members with a line of their own
_SYSTEM_ROLES: Final = ("system", "developer")
_SYSTEM_MEMBERS: Final = ("system", "instructions", "systemInstruction")  # of protocols without such a message


def transcript(interactions: Iterable[Interaction], *, fold: bool = False) -> Iterator[str]:
    """The lines of a whole conversation; with `fold`, a system prompt that was printed before is only named."""
    first_seen: dict[str, int] = {}
    for number, interaction in enumerate(interactions, 1):
        system = _system_prompt(interaction.request)
        seen = first_seen.setdefault(system, number) if fold and system else number
        yield from lines_of(interaction, number if fold else None, same_system_as=seen if seen != number else None)
        yield ""


def lines_of(
    interaction: Interaction, number: int | None = None, *, same_system_as: int | None = None
) -> Iterator[str]:
    """One interaction, free of characters that would move a terminal's cursor."""
    for line in (
        title(interaction, number),
        *_asked(interaction, same_system_as),
        _answer_heading(interaction),
        indent(answer_text(interaction), "  "),
    ):
        yield visible(line.replace("\r", "\u240d"))  # a line end of two characters makes another request


def title(interaction: Interaction, number: int | None = None) -> str:
    """One line that names the interaction: agent, sample, key, where it was sent."""
    count = f"{number}. " if number is not None else ""
    sample = f" · sample {interaction.sample}" if interaction.sample else ""
    where = f"{interaction.method} {interaction.uri}"
    return f"=== {count}{interaction.agent}{sample} · {interaction.key[:SHORT]} · {where}"


def answer_text(interaction: Interaction) -> str:
    """What came back, without the protocol around it: words, tool calls, or pages; JSON is laid out."""
    choices, results = interaction.response.get("choices"), interaction.response.get("results")
    if isinstance(choices, list):
        return "\n".join(_message(choice.get("message") or {}) for choice in choices if isinstance(choice, dict))
    if isinstance(results, list):
        return "\n".join(_page(result) for result in results if isinstance(result, dict)) or "(no results)"
    return _json(interaction.response)


WORDS: Final = "calls"
RecordedWords = Mapping[tuple[str, int], tuple[str, str, str]]
"""(key, number of the answer) of each interaction -> system prompt, other messages, answer."""


def recorded_words(
    interactions: Callable[[], Iterable[Interaction]], digest: str, keys: Collection[str], cache: Path
) -> RecordedWords:
    """The words of the requests with these keys in the cassette with that digest, whose `interactions` are asked for
    unless `cache` has the words of all of them."""
    kept, name = Kept(cache / WORDS), digest_of(digest.encode(), digest_of_code(Path(__file__)).encode())
    packed = kept.get(name)
    texts, rows, known = from_json(zlib.decompress(packed)) if packed is not None else ([], [], [])
    if missing := set(keys).difference(known):
        places = {text: place for place, text in enumerate(texts)}
        for each in interactions():
            if each.key in missing:
                said = (places.setdefault(text, len(places)) for text in words_of(each))
                rows.append((each.key, each.sample, *said))
        texts = list(places)
        with suppress(OSError, PydanticSerializationError):  # half a character, which JSON can spell
            kept.put(name, zlib.compress(to_json((texts, rows, [*known, *sorted(missing)])), 1))
    return {(key, sample): (texts[a], texts[b], texts[c]) for key, sample, a, b, c in rows if key in keys}


def keep_words(cassette: Cassette, digest: str, keys: Collection[str], cache: Path) -> None:
    """Read the words of these requests in a cassette that is parsed anyway, unless that was done before."""
    recorded_words(lambda: cassette.interactions, digest, keys, cache)


def words_of(interaction: Interaction) -> tuple[str, str, str]:
    """System prompt, other messages (their roles above them where there are several) and answer of an interaction."""
    request = interaction.request
    rest = [message for message in _messages(request) if message.get("role") not in _SYSTEM_ROLES]
    if not rest:
        shown = _json({name: value for name, value in request.items() if name not in (*_SYSTEM_MEMBERS, "model")})
    elif len(rest) == 1:
        shown = _message(rest[0])
    else:
        shown = "\n\n".join(f"[{message.get('role')}]\n{_message(message)}" for message in rest)
    return _system_prompt(request), shown, answer_text(interaction)


def _asked(interaction: Interaction, same_system_as: int | None) -> Iterator[str]:
    yield f"model: {interaction.request.get('model') or interaction.model or '(none)'}"
    yield from _settings(interaction.request)
    for message in _messages(interaction.request):
        role = str(message.get("role") or "unknown")
        if role == "system" and same_system_as is not None:
            yield f"[system] the same as in {same_system_as}."
            continue
        yield f"[{role}]"
        yield indent(_message(message), "  ")


def _settings(request: Mapping[str, Any]) -> Iterator[str]:
    schema = request.get("response_format")
    if isinstance(schema, Mapping):
        named = schema.get("json_schema")
        name = named.get("name") if isinstance(named, Mapping) else schema.get("type")
        yield f"answer format: {name} ({_digest(schema)})"
    tools = request.get("tools")
    if isinstance(tools, list) and tools:
        names = ", ".join(str((tool.get("function") or {}).get("name")) for tool in tools if isinstance(tool, dict))
        yield f"tools: {names} ({_digest(tools)})"
    yield from (f"{name}: {_inline(value)}" for name, value in sorted(request.items()) if name not in _SPOKEN)


def _answer_heading(interaction: Interaction) -> str:
    choices = interaction.response.get("choices")
    stops = [str(choice.get("finish_reason")) for choice in choices or () if isinstance(choice, dict)]
    usage = interaction.usage
    facts = [
        interaction.model,
        *stops,
        f"{usage.prompt_tokens} + {usage.completion_tokens} tokens",
        f"{interaction.latency_ms / 1000:.1f} s",
        f"recorded {interaction.recorded_at}" + (f" by {interaction.recorded_by}" if interaction.recorded_by else ""),
    ]
    return f"[answer] {' · '.join(fact for fact in facts if fact)}"


def _messages(request: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    messages = request.get("messages")
    return [message for message in messages if isinstance(message, Mapping)] if isinstance(messages, list) else []


def _system_prompt(request: Mapping[str, Any]) -> str:
    found = [message.get("content") for message in _messages(request) if message.get("role") in _SYSTEM_ROLES]
    found += [request.get(name) for name in _SYSTEM_MEMBERS]
    return "\n".join(each if isinstance(each, str) else _json(each) for each in found if each)


def _message(message: Mapping[str, Any]) -> str:
    """Content, refusal and tool calls, each on lines of its own."""
    content = message.get("content")
    parts = [_laid_out(content) if isinstance(content, str) else _json(content)] if content else []
    if message.get("refusal"):
        parts.append(f"refused: {message['refusal']}")
    for call in message.get("tool_calls") or ():
        function = (call.get("function") or {}) if isinstance(call, Mapping) else {}
        parts.append(f"calls {function.get('name')}: {function.get('arguments')}")
    return "\n".join(parts) or "(nothing)"


def _page(result: Mapping[str, Any]) -> str:
    return f"{result.get('title')} <{result.get('url')}>\n{indent(str(result.get('content') or ''), '  ')}"


def _laid_out(text: str) -> str:
    """JSON over several lines, any other text as it is."""
    try:
        value = parse_json(text)
    except ValueError:
        return text
    return _json(value) if isinstance(value, dict | list) else text


def _inline(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _json(value: object) -> str:
    try:
        return to_json(value, indent=1).decode()  # a tenth of the time that `json` takes
    except PydanticSerializationError:  # half a character, which JSON can spell
        return json.dumps(value, indent=1, ensure_ascii=False)


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:SHORT]

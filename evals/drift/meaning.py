"""What an answer says, field by field; how it is worded is not compared.

Which fields an answer has follows from its request, so that a broken answer lacks none: each then reads `unreadable`.
What is nothing but prose (a comment, a ticket) has no field, and is not asked again.
"""

import re
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Final

from evals.cassette.key import parse_json
from evals.recording.rounds.valid import fault

Json = Mapping[str, Any]
Reader = Callable[[Json], Hashable]

UNREADABLE: Final = "unreadable"
DECISION: Final = "decision"
SCHEMA: Final = "schema"
CONFIDENCE: Final = "confidence"
TOOLS: Final = "tools"
TEXT: Final = "text"

_PLACE: Final = re.compile(r":+\w[^/]*$")  # `::function`, `:12` behind a path


def _files(said: Json) -> Hashable:
    """The files an answer names, in any order: where the cause is, and what is affected."""
    listed = [each["path"] if isinstance(each, Mapping) else each for each in _listed(said)]
    location = said.get("root_cause_location")
    return frozenset(_path(text) for text in (*listed, location) if text and text.strip())


def _listed(said: Json) -> list[Any]:
    return [*said.get("affected_files", ()), *said.get("relevant_files", ())]


def _path(text: str) -> str:
    return _PLACE.sub("", text.strip().strip("`'\"").replace("\\", "/")).removeprefix("./")


def _pages(said: Json) -> Hashable:
    return frozenset(page["url"].strip().rstrip("/") for page in said["relevant_results"])


def _run(said: Json) -> Hashable:
    return (tuple(sorted(said["run"])), said["all_done"])


FIELDS: Final[Mapping[tuple[str, str], Mapping[str, Reader]]] = {
    ("supervisor", "SupervisorDecision"): {DECISION: lambda said: said["next_node"]},
    ("supervisor", "PlanDecision"): {DECISION: _run},
    ("supervisor", TEXT): {DECISION: lambda said: said["next_agent"]},
    ("codebase_search", "CodebaseAnswer"): {"files": _files},
    ("web_search", "WebSearchOutput"): {
        "cause outside": lambda said: bool(said["external_root_cause"]),
        "pages": _pages,
    },
    ("critic", "CriticOutput"): {"verdict": lambda said: said["verdict"]},
    ("writer", "ReportDraft"): {
        "category": lambda said: said["category"],
        "severity": lambda said: said["severity"],
        "files": _files,
    },
}
"""Agent and form of its answer -> the fields read from it. What calls tools has its calls as one more, or as decision;
every answer of a schema has `schema` and, where it states one, `confidence`."""


def fields_of(agent: str, request: Json) -> tuple[str, ...]:
    """The fields every answer to this request is compared in; none where it is prose."""
    form = _form(request)
    named = tuple(FIELDS.get((agent, form), ()))
    if form == TOOLS:
        return (_calls_are(agent), SCHEMA)
    if form == TEXT:
        return named
    return (*named, *((CONFIDENCE,) if CONFIDENCE in _schema(request).get("properties", ()) else ()), SCHEMA)


def meaning(agent: str, request: Json, response: Json) -> dict[str, Hashable]:
    """Field -> what the answer says there: a number for `confidence` (absent where none can be read), else a value that
    is equal or not; True for `schema` where the answer fits what the request demands."""
    fields = fields_of(agent, request)
    fits = fault(request, response) is None
    message = response["choices"][0]["message"]
    try:
        read = _read(agent, request, message) if fits else {}
    except (ValueError, KeyError, TypeError, AttributeError):  # not fitting, or free text of another shape
        read = {}
    rest = {name: UNREADABLE for name in fields if name not in (SCHEMA, CONFIDENCE)}
    return {**rest, **read, **({SCHEMA: fits} if SCHEMA in fields else {})}


def _read(agent: str, request: Json, message: Json) -> dict[str, Hashable]:
    form = _form(request)
    if form == TOOLS:
        return {_calls_are(agent): tuple(_call(request, each["function"]) for each in message.get("tool_calls") or ())}
    text = message["content"]
    said = parse_json(text[text.index("{") : text.rindex("}") + 1] if form == TEXT else text)
    found = {name: reader(said) for name, reader in FIELDS.get((agent, form), {}).items()}
    return {**found, **({CONFIDENCE: float(said[CONFIDENCE])} if CONFIDENCE in fields_of(agent, request) else {})}


def _calls_are(agent: str) -> str:
    """A supervisor that plans decides by its calls; to a worker they are means."""
    return DECISION if agent == "supervisor" else "calls"


def _call(request: Json, called: Json) -> Hashable:
    """A tool's name and what its call says outside of free text: numbers, flags, lists of them, words of an enum."""
    tools = {tool["function"]["name"]: tool["function"] for tool in request["tools"]}
    described = tools[called["name"]].get("parameters", {}).get("properties", {})
    said = parse_json(called["arguments"])
    kept = {name: value for name, value in said.items() if "enum" in described.get(name, {}) or not _is_text(value)}
    return called["name"], tuple((name, repr(kept[name])) for name in sorted(kept))


def _is_text(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and any(map(_is_text, value)))


def _form(request: Json) -> str:
    """The name of the schema an answer must fit, `tools` where it may call some, else `text`."""
    wanted = request.get("response_format") or {}
    if wanted.get("type") == "json_schema":
        return str(wanted["json_schema"].get("name"))
    return TOOLS if request.get("tools") else TEXT


def _schema(request: Json) -> Json:
    found: Json = request["response_format"]["json_schema"].get("schema") or {}
    return found

"""What a drift check compares in the answers of triage's agents.

What calls tools has its calls as one more field, or as decision; every answer of a schema has `schema` and, where it
states one, `confidence`.
"""

import re
from collections.abc import Hashable, Mapping
from typing import Any, Final

from evals.analysis.drift_session import DECISION, ROUTER, TEXT, Json
from evals.application_pack import Readers

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


FIELDS: Final[Readers] = {
    (ROUTER, "SupervisorDecision"): {DECISION: lambda said: said["next_node"]},
    (ROUTER, "PlanDecision"): {DECISION: _run},
    (ROUTER, TEXT): {DECISION: lambda said: said["next_agent"]},
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

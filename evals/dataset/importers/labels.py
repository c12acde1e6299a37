"""The labels of an imported case: what its source states, and one generic rule for the rest.

**The rule.** The investigator comes first and the writer last; where the source says which files the fix changed, the
code must be searched before the writer writes; a question to the user is allowed, once, after a look at the code or the
web; the critic judges evidence, so it comes after some. Severity MEDIUM, archetype `local_bug`, category `code` and
split `gate` are defaults, not labels: tags `unlabelled:<label>` say so, and no score rests on them.
"""

import hashlib
import re
from typing import Any, Final

from evals.dataset.importers.found import Issue, Source
from evals.models.case import UNLABELLED, CaseFile

IMPORTED: Final = "imported"
LONGEST_ID: Final = 80  # characters, so that a path stays shorter than any file system's limit
_EVIDENCE: Final = ["codebase_search", "web_search", "human_input"]
_LOOK: Final = ["codebase_search", "web_search"]
_ALWAYS: Final[list[dict[str, Any]]] = [
    {"id": "end", "type": "end", "a": ["writer"], "w": 2, "hard": True},
    {"id": "look<human_input", "type": "precedence", "a": _LOOK, "b": ["human_input"], "w": 2},
    {"id": "ask_once", "type": "existence", "a": ["human_input"], "max": 1, "w": 2},
    {"id": "evidence<critic", "type": "precedence", "a": _EVIDENCE, "b": ["critic"], "w": 1},
]
_WITH_GOLD: Final[list[dict[str, Any]]] = [
    {"id": "must:codebase_search", "type": "existence", "a": ["codebase_search"], "min": 1, "w": 2, "hard": True},
    {"id": "codebase_search<writer", "type": "precedence", "a": ["codebase_search"], "b": ["writer"], "w": 1},
]
_WITHOUT_GOLD: Final[list[dict[str, Any]]] = [
    {"id": "evidence<writer", "type": "precedence", "a": _EVIDENCE, "b": ["writer"], "w": 2},
]
_EXEMPLARS: Final = [
    ["investigator", "codebase_search", "critic", "writer"],
    ["investigator", "codebase_search", "human_input", "critic", "writer"],
]


def labels_of(issue: Issue, source: Source, case_id: str) -> CaseFile:
    """The case file of one imported issue. Raises pydantic.ValidationError, as for a repository that is none."""
    has_gold = bool(issue.files)
    return CaseFile.model_validate(
        {
            "id": case_id,
            "repository": issue.repository,
            "base_commit": issue.commit or None,
            "origin": {"source": source, "name": issue.name},
            "archetype": "local_bug",
            "split": "gate",
            "tags": (IMPORTED, *(UNLABELLED + label for label in _unstated(issue))),
            "severity": "MEDIUM",
            "category": "code",
            "root_cause": f"Not stated by {source}.",
            "gold": {"files": issue.files, "functions": issue.functions, "whole_names": issue.whole_names},
            "question": {"policy": "allowed"},
            "route": [
                {
                    "constraints": [*_ALWAYS, *(_WITH_GOLD if has_gold else _WITHOUT_GOLD)],
                    "target": 4,
                    "max": 6,
                    "exemplars": _EXEMPLARS,
                }
            ],
        }
    )


def safe_id(name: str, taken: frozenset[str]) -> str:
    """A folder name for `name`: lower case, digits and single dashes. Where another row has it already, or where it
    had to be cut, some of the name's own hash is added, so that it depends on what came before as little as can be."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    if plain and len(plain) <= LONGEST_ID and plain not in taken:
        return plain
    digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:8]
    return f"{plain[: LONGEST_ID - 9].strip('-') or 'case'}-{digest}"


def _unstated(issue: Issue) -> list[str]:
    stated = {
        "archetype": False,
        "severity": False,
        "root_cause": False,
        "question": False,
        "category": issue.is_code,
        "gold": bool(issue.files),
        "functions": bool(issue.functions),
    }
    return [label for label, known in stated.items() if not known]

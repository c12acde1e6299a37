"""Reading a reply of free text: one JSON object, or a value that says why there is none. It neither raises nor guesses.

plain, or in a Markdown fence          read
prose before or after the object       read, the prose is ignored
a comma before a closing bracket       read, the comma is dropped
members beyond the three               read and ignored; without `reasoning` or `input_check` they are empty
empty, or no object at all             unusable
cut off, or otherwise broken JSON      unusable
a second object                        unusable: which one counts would be a guess
no `next_agent`, or an unknown one     unusable
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from triage.registry import REGISTRY
from triage.state import Node

FINISHED: Final = "finished"
_FENCE: Final = re.compile(r"^[ \t]*```[\w-]*[ \t]*$", re.MULTILINE)
# A whole string, which is kept, or a comma with nothing but a closing bracket behind it, which is not.
_STRING_OR_COMMA: Final = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])', re.DOTALL)


@dataclass(frozen=True)
class Reply:
    """What the model said; `next_node` is `end` where it said finished."""

    next_node: Node
    reasoning: str
    input_check: str


@dataclass(frozen=True)
class Unusable:
    """A reply that names no next agent, and why, in words that depend on the reply alone."""

    error: str


def read(text: str) -> Reply | Unusable:
    """The reply in `text`."""
    plain = without_fences(text)
    if not plain.strip():
        return Unusable("the reply was empty")
    if "{" not in plain:
        return Unusable("the reply held no JSON object")
    body = without_trailing_commas(plain[plain.index("{") :])
    try:
        said, end = json.JSONDecoder().raw_decode(body)
    except (json.JSONDecodeError, RecursionError) as error:
        return Unusable(f"the JSON of the reply is broken or cut off ({_fault(error)})")
    if _object_in(body[end:]):
        return Unusable("the reply held two JSON objects")
    return _checked(said)


def without_fences(text: str) -> str:
    """The text without lines that open or close a Markdown code block."""
    return _FENCE.sub("", text)


def without_trailing_commas(text: str) -> str:
    """The text without commas before a closing bracket; what stands inside strings is left alone."""
    return _STRING_OR_COMMA.sub(lambda found: found[1] or "", text)


def _checked(said: Mapping[str, Any]) -> Reply | Unusable:
    chosen = said.get("next_agent")
    if not isinstance(chosen, str) or not chosen.strip():
        return Unusable("the reply named no next_agent")
    name = chosen.strip()
    if name != FINISHED and name not in REGISTRY:
        return Unusable(f"the reply named an agent that is not in the registry: {name[:40]!r}")
    node = cast("Node", "end" if name == FINISHED else name)
    return Reply(node, _text(said.get("reasoning")), _text(said.get("input_check")))


def _text(value: object) -> str:
    """Informational members are kept whatever their shape: models answer `input_check` with lists and objects."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _object_in(text: str) -> bool:
    """Whether an object begins in what follows the first one, complete or not."""
    return re.search(r'\{\s*(?:"|\})', text) is not None


def _fault(error: json.JSONDecodeError | RecursionError) -> str:
    return f"{error.msg} at character {error.pos}" if isinstance(error, json.JSONDecodeError) else "nested too deeply"

"""An endpoint that says what a tape says, but for a planted share of decisions that it now makes otherwise."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from evals.cassette.key import request_key
from evals.cassette.readings import FOLDER, Readings
from evals.cassette.store import Interaction, load
from tests.builders.interaction import CHAT
from tests.builders.llm_server import Answer, Answered

Tape = Mapping[str, tuple[Interaction, ...]]


def a_tape_of(cassettes: Path, cases: Iterable[str] | None = None) -> Tape:
    """Every recorded request of the cassettes by key, with all its answers."""
    found: dict[str, list[Interaction]] = {}
    readings = Readings(cassettes.parent / ".cache" / FOLDER)
    for name in sorted(cases or (path.stem for path in cassettes.glob("*.yaml"))):
        for interaction in load(cassettes / f"{name}.yaml", readings).interactions:
            found.setdefault(interaction.key, []).append(interaction)
    return {key: tuple(each) for key, each in found.items()}


def saying(tape: Tape, *, otherwise: float = 0.0, noise: float = 0.0, model: str | None = None) -> Answer:
    """The tape's answers. A share `otherwise` of all decisions is another node, always the same one for a request; of
    the rest, a share `noise` is, anew with each answer. Everything follows from request and count alone."""
    counts: Counter[str] = Counter()

    def answer(_agent: str, body: dict[str, Any]) -> Answered:
        key = request_key("POST", CHAT, json.dumps(body).encode())
        counts[key] += 1
        said = json.loads(json.dumps(tape[key][0].response))
        if model:
            said["model"] = model
        if _at(key, "drift") < otherwise or _at(key, f"noise {counts[key]}") < noise:
            said["choices"][0]["message"]["content"] = _turned(said["choices"][0]["message"]["content"])
        return 200, "application/json", json.dumps(said).encode()

    return answer


def _turned(content: str | None) -> str | None:
    """The answer with another next node, if it has one."""
    if content is None or '"next_node"' not in content:
        return content
    said = json.loads(content)
    return json.dumps({**said, "next_node": "critic" if said["next_node"] != "critic" else "writer"})


def _at(key: str, about: str) -> float:
    """A number in [0, 1) that follows from both."""
    return int.from_bytes(hashlib.sha256(f"{about} {key}".encode()).digest()[:8]) / 2**64

"""An endpoint that says what a tape says, but for a planted share of decisions that it now makes otherwise."""

import hashlib
import json
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evals.analysis.drift_comparison import ComparedRequest
from evals.analysis.drift_session import CONFIDENCE, DECISION, SCHEMA, SHARED, RecordedRequest, Stratum
from evals.cassettes.cassette_data import Interaction
from evals.cassettes.cassette_files import FOLDER, Readings, load
from evals.cassettes.request_key import request_key
from tests.builders.interaction import CHAT, an_interaction
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


@dataclass(frozen=True)
class World:
    """A model behind a tape, to be simulated: `noise` is the disagreement of two of its answers to one decision, met in
    a fifth of all requests only; `change` by how much fresh answers disagree more, spread evenly or by whole cases.
    Workers' answers are as noisy and never change, confidences spread by a tenth. `kept` answers are on tape."""

    noise: float = 0.05
    change: float = 0.0
    by_case: bool = False
    kept: int = 1

    def requests(self, size: int = 1500, cases: int = 60) -> list[RecordedRequest]:
        """What is recorded: four in five are decisions, of two variants."""
        kinds = [
            (Stratum("supervisor", "v1"), (DECISION, CONFIDENCE, SCHEMA)),
            (Stratum("supervisor", "v2"), (DECISION, CONFIDENCE, SCHEMA)),
            (Stratum("supervisor", "v2"), (DECISION, CONFIDENCE, SCHEMA)),
            (Stratum("supervisor", "v1"), (DECISION, CONFIDENCE, SCHEMA)),
            (Stratum("writer", SHARED), ("category", "files", CONFIDENCE, SCHEMA)),
        ]
        return [
            RecordedRequest(f"case-{n * 7919 % cases}", f"{n:064x}", *kinds[n % 5], (an_interaction(),) * self.kept, ())
            for n in range(size)
        ]

    def asked(
        self, requests: Sequence[RecordedRequest], sample: Sequence[RecordedRequest], rng: np.random.Generator
    ) -> list[ComparedRequest]:
        """The sample with its answers on either side."""
        sizes, counts = Counter(r.stratum for r in requests), Counter(r.stratum for r in sample)
        return [
            ComparedRequest(
                request,
                tuple(self._said(request, rng, fresh=False) for _ in range(self.kept)),
                tuple(self._said(request, rng, fresh=True) for _ in range(request.times)),
                sizes[request.stratum] / counts[request.stratum],
            )
            for request in sample
        ]

    def _said(self, request: RecordedRequest, rng: np.random.Generator, *, fresh: bool) -> dict[str, Hashable]:
        return {
            name: float(rng.normal(0.8, 0.1))
            if name == CONFIDENCE
            else True
            if name == SCHEMA
            else self._value(request, rng, turned=fresh and name == DECISION and self._turns(request))
            for name in request.fields
        }

    def _value(self, request: RecordedRequest, rng: np.random.Generator, *, turned: bool) -> str:
        """One of two values of the noisy fifth, by a coin whose two throws differ with probability five times `noise`;
        the only one of the rest."""
        if turned:
            return "turned"
        odd = (1 - np.sqrt(max(0.0, 1 - 10 * self.noise))) / 2
        return "odd" if _at(request.key, "noisy") < 0.2 and rng.random() < odd else "usual"

    def _turns(self, request: RecordedRequest) -> bool:
        name = request.case if self.by_case else request.key
        return _at(name, "turns") < self.change / (1 - self.noise)

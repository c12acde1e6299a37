"""Which routes a specification lets through, found once and remembered: trying all takes a tenth of a second."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from evals.dataset.memory import code_digest, keep
from evals.models.route import RouteSpec
from evals.routes.selftest import SURE, UNSURE, Route, State, passing_routes

BANDS: Final[Mapping[str, State]] = {"unsure": UNSURE, "sure": SURE}

Passing = Mapping[str, frozenset[Route]]
"""Band of confidence -> the routes of up to six visits that pass in it."""


def passing_of(spec: RouteSpec, cache: Path) -> Passing:
    """The passing routes by band; specifications that differ in name and exemplars only share one remembered answer."""
    place = cache / "passing" / f"{_digest(spec)}.json"
    if not place.exists():
        found = {band: sorted(passing_routes(spec, state)) for band, state in BANDS.items()}
        keep(place, json.dumps(found).encode())
    stored = json.loads(place.read_text(encoding="utf-8"))
    return {band: frozenset(tuple(route) for route in stored[band]) for band in BANDS}


def _digest(spec: RouteSpec) -> str:
    """Over what decides which routes pass: the rules and the code that applies them, not name and exemplars."""
    bare = [each.model_copy(update={"exemplars": ()}) for each in spec.alternatives]
    text = spec.model_copy(update={"name": "", "alternatives": tuple(bare)}).model_dump_json(by_alias=True)
    return hashlib.sha256(code_digest("routes/*.py", "models/route.py") + text.encode()).hexdigest()[:24]

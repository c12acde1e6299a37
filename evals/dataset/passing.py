"""Which routes a specification lets through, found once and remembered: trying all takes a tenth of a second."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from evals.dataset.memory import code_digest, keep, recalled
from evals.models.route import RouteSpec
from evals.routes.selftest import SURE, UNSURE, Route, State, passing_routes

BANDS: Final[Mapping[str, State]] = {"unsure": UNSURE, "sure": SURE}

Passing = Mapping[str, frozenset[Route]]
"""Band of confidence -> the routes of up to six visits that pass in it."""
_STORED: Final = TypeAdapter(dict[str, list[Route]])


def passing_of(spec: RouteSpec, cache: Path) -> Passing:
    """The passing routes by band; specifications that differ in name and exemplars only share one remembered answer."""
    place = cache / "passing" / f"{_digest(spec)}.json"
    stored = recalled(place, _STORED)
    if stored is None or set(stored) != set(BANDS):
        stored = {band: sorted(passing_routes(spec, state)) for band, state in BANDS.items()}
        keep(place, json.dumps(stored).encode())
    return {band: frozenset(stored[band]) for band in BANDS}


def _digest(spec: RouteSpec) -> str:
    """Over what decides which routes pass: the rules and the code that applies them, not name and exemplars."""
    bare = [each.model_copy(update={"exemplars": ()}) for each in spec.alternatives]
    text = spec.model_copy(update={"name": "", "alternatives": tuple(bare)}).model_dump_json(by_alias=True)
    return hashlib.sha256(code_digest("routes/*.py", "models/route.py") + text.encode()).hexdigest()[:24]

"""Which routes a specification lets through, found once and remembered: trying all takes a tenth of a second."""

import hashlib
import json
import os
from collections.abc import Mapping
from functools import cache as once
from pathlib import Path
from typing import Final

import evals
from evals.models.route import RouteSpec
from evals.routes.selftest import SURE, UNSURE, Route, State, passing_routes

BANDS: Final[Mapping[str, State]] = {"unsure": UNSURE, "sure": SURE}

Passing = Mapping[str, frozenset[Route]]
"""Band of confidence -> the routes of up to six visits that pass in it."""


def passing_of(spec: RouteSpec, cache: Path) -> Passing:
    """The passing routes by band; specifications that differ in name and exemplars only share one remembered answer."""
    place = cache / "passing" / f"{_digest(spec)}.json"
    if not place.exists():
        _remember(place, {band: sorted(passing_routes(spec, state)) for band, state in BANDS.items()})
    stored = json.loads(place.read_text(encoding="utf-8"))
    return {band: frozenset(tuple(route) for route in stored[band]) for band in BANDS}


def _remember(place: Path, found: Mapping[str, list[Route]]) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    scratch = place.with_suffix(f".{os.getpid()}")
    scratch.write_text(json.dumps(found), encoding="utf-8")
    scratch.replace(place)  # whole or not at all


def _digest(spec: RouteSpec) -> str:
    """Over what decides which routes pass: the rules and the code that applies them, not name and exemplars."""
    bare = [each.model_copy(update={"exemplars": ()}) for each in spec.alternatives]
    text = spec.model_copy(update={"name": "", "alternatives": tuple(bare)}).model_dump_json(by_alias=True)
    return hashlib.sha256(_code() + text.encode()).hexdigest()[:24]


@once
def _code() -> bytes:
    package = Path(evals.__file__).parent
    files = [*sorted((package / "routes").glob("*.py")), package / "models" / "route.py"]
    return hashlib.sha256(b"".join(hashlib.sha256(file.read_bytes()).digest() for file in files)).digest()

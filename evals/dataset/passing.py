"""Which routes a specification lets through, found once and remembered: trying all takes a tenth of a second."""

import multiprocessing
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from evals.dataset.memory import code_digest
from evals.kept import Kept, digest_of
from evals.models.route import RouteSpec
from evals.routes.selftest import STRICTNESS_LENGTH, SURE, UNSURE, Route, State, Strictness, passing_routes, strictness
from evals.routes.spec import ALL_NODES

_SEQUENCES: Final = sum(len(ALL_NODES) ** length for length in range(1, STRICTNESS_LENGTH + 1))
FEW: Final = 4
"""So many new specifications are found out sooner than processes start."""
BANDS: Final[Mapping[str, State]] = {"unsure": UNSURE, "sure": SURE}

Passing = Mapping[str, frozenset[Route]]
"""Band of confidence -> the routes of up to six visits that pass in it."""
_STORED: Final = TypeAdapter(dict[str, list[Route]])


def passing_of(spec: RouteSpec, cache: Path) -> Passing:
    """The passing routes by band; specifications that differ in name and exemplars only share one remembered answer."""
    kept, name = Kept(cache / "passing"), _name(spec)
    known = kept.get(name)
    if known is None:
        found = {band: sorted(passing_routes(spec, state)) for band, state in BANDS.items()}
        kept.put(name, _STORED.dump_json(found))
    else:
        found = _STORED.validate_json(known)
    return {band: frozenset(found[band]) for band in BANDS}


def find_out(specs: Iterable[RouteSpec], cache: Path, jobs: int) -> None:
    """Have what passes remembered of all of these; where many are new, by so many processes."""
    kept = Kept(cache / "passing")
    new = {name: spec for spec in specs if kept.get(name := _name(spec)) is None}
    if jobs <= 1 or len(new) <= FEW:
        return  # whoever asks for one finds it out
    with ProcessPoolExecutor(min(jobs, len(new)), mp_context=multiprocessing.get_context("spawn")) as pool:
        for _ in pool.map(passing_of, new.values(), repeat(cache)):
            pass


def strictness_of(spec: RouteSpec, cache: Path) -> Strictness:
    """`evals.routes.selftest.strictness`, counted once a specification: of what is remembered of its routes, or of its
    own."""
    kept, name = Kept(cache / "passing"), _name(spec)
    own = digest_of(b"strictness", name.encode())
    if (routes := kept.get(name)) is not None:
        return Strictness(len(_STORED.validate_json(routes)["unsure"]), _SEQUENCES)
    if (counted := kept.get(own)) is not None:
        return Strictness(int(counted), _SEQUENCES)
    found = strictness(spec)
    kept.put(own, str(found.accepted).encode())
    return found


def _name(spec: RouteSpec) -> str:
    """Over what decides which routes pass: the rules and the code that applies them, not name and exemplars."""
    bare = [each.model_copy(update={"exemplars": ()}) for each in spec.alternatives]
    text = spec.model_copy(update={"name": "", "alternatives": tuple(bare)}).model_dump_json(by_alias=True)
    return digest_of(code_digest("routes/*.py", "models/route.py"), text.encode())

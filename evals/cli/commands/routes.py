"""`evals routes`: score recorded routes against a specification, outside any run."""

import json
from pathlib import Path

from evals.errors import EXIT_OK


def score(spec: Path, traces: Path) -> int:
    """Print one JSON object per trace: {F, P, E, A, H, hard, raw, R, pass}, numbers to four decimals.

    Raises `ConfigurationError` where a file cannot be used.
    """
    from evals.routes.check import check
    from evals.routes.spec import load_routes, load_spec

    specification = load_spec(spec)
    routes = load_routes(traces)
    scores = [check(specification, route.visits, route.state, route.supersteps) for route in routes]
    rows = [score.model_dump(by_alias=True, exclude={"unknown", "alternative"}) for score in scores]
    print(json.dumps([{name: _rounded(value) for name, value in row.items()} for row in rows], indent=2))
    return EXIT_OK


def _rounded(value: object) -> object:
    return round(value, 4) if isinstance(value, float) else value

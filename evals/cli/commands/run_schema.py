"""`evals schema`: the JSON Schema of what this version writes, for readers of other languages."""

import json
from typing import Final

from pydantic import BaseModel

from evals.errors import EXIT_OK, ConfigurationError
from evals.models.drift import Drift
from evals.models.history import History
from evals.models.run import Run
from evals.models.shard import Shard
from evals.models.sweep import Sweep

WRITTEN: Final[dict[str, type[BaseModel]]] = {
    "run": Run,
    "sweep": Sweep,
    "shard": Shard,
    "history": History,
    "drift": Drift,
}
"""Name -> the model of `run.json`, `sweep.json`, the file of a shard, `history.json` and `drift.json`."""


def schema(name: str) -> int:
    """Print the schema of `name`. Returns 0. Raises ConfigurationError if nothing of that name is written."""
    if name not in WRITTEN:
        raise ConfigurationError(f"no schema {name!r}; name one of {', '.join(WRITTEN)}")
    print(json.dumps(schema_of(WRITTEN[name]), indent=2, sort_keys=True))
    return EXIT_OK


def schema_of(model: type[BaseModel]) -> dict[str, object]:
    """The schema of files this version writes: every field is there, and the number of the schema is this one's."""
    made = model.model_json_schema(by_alias=True, mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}

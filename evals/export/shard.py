"""A shard as a file: the same trials give the same bytes."""

from pathlib import Path

from evals.cassette.hold_back import held_back
from evals.export.folder import write_files
from evals.export.stored import read_stored
from evals.models.shard import SHARD_SCHEMA, Shard


def write_shard(shard: Shard, path: Path) -> None:
    """Write the shard; the file appears whole or not at all, and a text no cassette may
    hold is withheld. Raises ConfigurationError if it cannot be written."""
    write_files(path.parent, {path.name: held_back(shard, path).sealed().model_dump_json(by_alias=True) + "\n"})


def read_shard(path: Path) -> Shard:
    """The shard stored at `path`.

    Raises:
        ConfigurationError: no such file, not a shard, or one of a newer schema.
    """
    absent = "`evals run SUITE --shard 1/2` writes one"
    broken = "not a whole shard; make it anew with `evals run SUITE --shard`"
    return read_stored(path, Shard, SHARD_SCHEMA, mark="traces", absent=absent, broken=broken, sealed_since=2)

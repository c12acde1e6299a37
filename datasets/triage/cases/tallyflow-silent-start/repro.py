"""Planning looks at each source file a fixed number of times, however the steps are connected."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from tallyflow import sources
from tallyflow.checkpoints import CheckpointStore
from tallyflow.config import parse
from tallyflow.graph import Graph

looks = 0
digest = sources.Source.digest


def counted(source: sources.Source, base: Path) -> str:
    """The real digest, and one more look."""
    global looks
    looks += 1
    return digest(source, base)


def steps(levels: int) -> Iterator[tuple[str, dict[str, object]]]:
    yield "readings", {"kind": "read", "source": "all"}
    yield "amounts", {"kind": "difference", "inputs": ["readings"]}
    yield "pass-0", {"kind": "resample", "inputs": ["amounts"], "interval": "hour"}
    for level in range(1, levels + 1):
        before = f"pass-{level - 1}"
        yield f"fill-{level}", {"kind": "fill", "inputs": [before], "max_gap": level}
        yield f"pass-{level}", {"kind": "merge", "inputs": [before, f"fill-{level}"]}


def looks_for(levels: int, base: Path) -> int:
    global looks
    looks = 0
    document = {"sources": {"all": {"path": "*.csv"}}, "steps": dict(steps(levels))}
    Graph(parse(document, base, {})).plan(CheckpointStore(None))
    return looks


sources.Source.digest = counted
with tempfile.TemporaryDirectory() as folder:
    (Path(folder) / "a.csv").write_text("meter;at;value;unit\n", encoding="utf-8")
    few, many = looks_for(3, Path(folder)), looks_for(6, Path(folder))
assert many <= 2 * few, f"twice the levels, {few} looks at the source became {many}"

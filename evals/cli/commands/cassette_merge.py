"""`evals cassette merge`: git's merge driver for cassettes."""

import shutil
import sys
from pathlib import Path
from typing import Final

from evals.cassette import disk
from evals.cassette.migrations import read_any
from evals.cassette.store import Cassette, rendered
from evals.cassette.transcript import SHORT
from evals.cassette.union import Conflict, Union, preferring, union
from evals.errors import EXIT_OK, EXIT_WORSE, ConfigurationError

ASIDE: Final = Path(".cache/cassette-merge")
_SHOWN: Final = 5  # conflicts in the message; the files hold them all


def merge(base: Path, ours: Path, theirs: Path, path: str, prefer: str | None = None) -> int:
    """Write the union of both sides into `ours`. Returns 0, or 1 if the same request was answered differently.

    In a conflict `ours` stays as it is, byte for byte, and both sides are kept below `.cache/cassette-merge/`.

    Raises:
        ConfigurationError: `prefer` is no side.
        CassetteError: a side cannot be trusted; nothing is written.
    """
    if prefer not in {None, "ours", "theirs"}:
        raise ConfigurationError(f"--prefer {prefer}: say ours or theirs")
    sides = [_side(file, name, path) for file, name in ((base, "base"), (ours, "ours"), (theirs, "theirs"))]
    merged = union(*sides)
    if merged.conflicts and prefer is None:
        print(_message(path, merged, _kept_aside(base, ours, theirs, path)), file=sys.stderr)
        return EXIT_WORSE
    interactions = preferring(merged, prefer or "ours")
    disk.replace(ours, rendered(Cassette(ours, interactions, tree=sides[1].tree or sides[2].tree)))
    return EXIT_OK


def _side(file: Path, name: str, path: str) -> Cassette:
    """One side, called by its name in the repository; an empty file is one that did not exist."""
    content = file.read_bytes()
    called = Path(f"{path} ({name})")
    return read_any(content, called) if content else Cassette(called, exists=False)


def _kept_aside(base: Path, ours: Path, theirs: Path, path: str) -> list[Path]:
    ASIDE.mkdir(parents=True, exist_ok=True)
    kept = []
    for file, side in ((base, "base"), (ours, "ours"), (theirs, "theirs")):
        kept.append(ASIDE / f"{Path(path).stem}.{side}.yaml")
        shutil.copyfile(file, kept[-1])
    return kept


def _message(path: str, merged: Union, kept: list[Path]) -> str:
    count = len(merged.conflicts)
    shown = ", ".join(_named(conflict) for conflict in merged.conflicts[:_SHOWN])
    more = f" and {count - _SHOWN} more" if count > _SHOWN else ""
    files = " ".join(str(file) for file in kept)
    return (
        f"evals: {path}: {count} request{'s were' if count > 1 else ' was'} answered differently on the two branches: "
        f"{shown}{more}. The file is ours, unchanged; see `evals cassette diff {kept[1]} {kept[2]}`, then "
        f"`evals cassette merge {files} {path} --prefer ours` (or theirs), `cp {kept[1]} {path}`, `git add {path}`"
    )


def _named(conflict: Conflict) -> str:
    sample = f" sample {conflict.ours.sample}" if conflict.ours.sample else ""
    return f"{conflict.ours.agent} {conflict.ours.key[:SHORT]}{sample}"

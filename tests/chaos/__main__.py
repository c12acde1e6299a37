"""`python -m tests.chaos [PART ...] [SHARE [SEED]]`: tests of the promises of docs/reliability.md, part by part.

`kills mutations` runs these parts; `0.1` does a tenth of each, `1 7` all of each with seed 7. Prints the table; exit
code 1 where a promise is not kept.
"""

import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.chaos import (
    chance,
    checkouts,
    greens,
    kills,
    mutations,
    payloads,
    races,
    secrets,
    sources,
    strangers,
    targets,
)
from tests.chaos.row import Row, table

Part = Callable[[Path, float, int], list[Row]]
"""Works in a folder of its own; does a share of what it could, from a seed."""

PARTS: Final[dict[str, Part]] = {
    "kills": kills.rows,
    "mutations": mutations.rows,
    "greens": greens.rows,
    "races": races.rows,
    "payloads": payloads.rows,
    "secrets": secrets.rows,
    "strangers": strangers.rows,
    "checkouts": checkouts.rows,
    "sources": sources.rows,
    "chance": chance.rows,
    "targets": targets.rows,
}
SEED: Final = 15


def main(*words: str) -> int:
    """Run the parts named, all if none is."""
    numbers = [word for word in words if re.fullmatch(r"[\d.]+", word)]
    names = [word for word in words if word not in numbers]
    if unknown := [name for name in names if name not in PARTS]:
        print(f"chaos: no part is called {unknown[0]!r}; choose among {', '.join(PARTS)}", file=sys.stderr)
        return 2
    share, seed = (*map(float, numbers), *(1, SEED)[len(numbers) :])
    os.environ["PYTHONWARNINGS"] = (
        "ignore:resource_tracker:UserWarning"  # of processes killed, it counts what they held
    )
    found: list[Row] = []
    for name in names or PARTS:
        with tempfile.TemporaryDirectory(prefix="chaos-") as folder:
            found += PARTS[name](Path(folder), share, int(seed))
    print(table(found))
    return int(any(row.is_broken for row in found))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

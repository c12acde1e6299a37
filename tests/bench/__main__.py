"""`make bench`: every line of docs/performance.md, goal beside it, then the limits that hold on any machine.

`make bench PARTS="many flat"` measures some. A limit that is not kept ends it with 1; a goal that is not met is said.
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.bench import flat, history, index, nearest, performance, starts, tape, trials
from tests.bench.goals import GOALS

LIMITS: Final[dict[str, Callable[[str], int]]] = {
    "starts": starts.main,
    "trials": trials.main,
    "flat": flat.main,
    "tape": tape.main,
    "history": history.main,
    "nearest": lambda _suite: nearest.main(),
    "index": index.main,
    "ranking": index.ranking,
}
SLOW: Final = {"ranking"}
"""Takes minutes: only where it is named."""


def main(suite: str, *names: str) -> int:
    unknown = [name for name in names if name not in (*GOALS, *LIMITS)]
    if unknown:
        print(f"bench: no part is called {unknown[0]!r}; choose among {', '.join((*GOALS, *LIMITS))}", file=sys.stderr)
        return 2
    wanted = names or [name for name in (*GOALS, *LIMITS) if name not in SLOW]
    for name in [name for name in GOALS if name in wanted]:
        measure(name)
    return max((LIMITS[name](suite) for name in LIMITS if name in wanted), default=0)


def measure(name: str) -> None:
    """Print the lines of a part as they come, and keep them."""
    found = []
    with tempfile.TemporaryDirectory(prefix="evals-bench-") as scratch:
        for line in GOALS[name](Path(scratch)):
            print(line, flush=True)
            found.append(line)
    performance.keep(name, found)
    performance.write([*GOALS])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

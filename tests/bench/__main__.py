"""`make bench`: everything that is measured, part by part (`make bench PARTS="trials flat"` for some).

A part returns 1 where a limit is not kept that does not depend on how busy the machine is; the others are printed
beside what was measured.
"""

import sys
from collections.abc import Callable
from typing import Final

from tests.bench import commands, flat, history, index, nearest, starts, sweep, tape, trials

PARTS: Final[dict[str, Callable[[str], int]]] = {
    "starts": starts.main,
    "trials": trials.main,
    "suite": commands.suite,
    "many": commands.many,
    "flat": flat.main,
    "sweep": sweep.main,
    "tape": tape.main,
    "history": history.main,
    "nearest": lambda _suite: nearest.main(),
    "index": index.main,
    "ranking": index.ranking,
}
SLOW: Final = {"ranking"}
"""Takes minutes: only where it is named."""


def main(suite: str, *names: str) -> int:
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        print(f"bench: no part is called {unknown[0]!r}; choose among {', '.join(PARTS)}", file=sys.stderr)
        return 2
    return max(PARTS[name](suite) for name in names or [name for name in PARTS if name not in SLOW])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

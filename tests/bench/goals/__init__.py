"""Every line of the table in docs/performance.md, by the part that measures it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from tests.bench.goals import commands, languages, loop, many, memory, replayed, scale, suite, target
from tests.bench.line import Line

GOALS: Final[dict[str, Callable[[Path], Iterator[Line]]]] = {
    "suite": suite.lines,
    "loop": loop.lines,
    "replay": replayed.lines,
    "many": many.lines,
    "target": target.lines,
    "selftest": commands.selftest,
    "sweep": commands.sweep,
    "batch": commands.batch,
    "parent": memory.parent,
    "rounds": memory.rounds,
    "report": memory.report,
    "scale": scale.lines,
    "languages": languages.lines,
}

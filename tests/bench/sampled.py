"""Where a command's processor time goes, package by package: what stands in the way of a goal that is not met.

The program is interrupted every few milliseconds of processor time and asked where it is. A profiler that follows every
call would make small functions dearer than they are. Imports are a line for each package that we import, with all that
it imports itself.
"""

import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Final

from tests.bench.cost import REPOSITORY, run
from tests.bench.line import Line

EVERY_S: Final = 0.005
LINES: Final = 14
IMPORTS: Final = "imports"
_LOADER: Final = "<frozen importlib"


LIBRARIES: Final = "imports of libraries"
GRAPH: Final = "the graph's own work"
EVALS: Final = "evals"


@contextmanager
def sampled(kinds: Counter[str] | None = None) -> Iterator[Counter[str]]:
    """Counts, while the block runs, in which package this process is found, and in `kinds` whose work it does. For the
    main thread of one process."""
    found: Counter[str] = Counter()

    def look(_: int, frame: FrameType | None) -> None:
        place = _place(frame)
        found[place] += 1
        if kinds is not None:
            kinds[_kind(frame, place)] += 1

    before = signal.signal(signal.SIGPROF, look)
    signal.setitimer(signal.ITIMER_PROF, EVERY_S, EVERY_S)
    try:
        yield found
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def told(found: Mapping[str, int], seconds: float) -> str:
    """The packages with most processor time of their own, one to a line, with their share of all of it."""
    total = sum(found.values()) or 1
    ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    top, rest = ranked[:LINES], sum(count for _, count in ranked[LINES:])
    rows = [*top, ("all others", rest)] if rest else top
    head = f"{seconds:.1f} s of processor in one process, of which its own:"
    return "\n".join([head, *(f"{count / total:4.0%}  {name}" for name, count in rows)])


def floor_of(kinds: Mapping[str, int], seconds: float, cores: int) -> str:
    """What no change of evals takes away of these processor seconds, in words."""
    each = seconds / (sum(kinds.values()) or 1)
    libraries, graph = kinds.get(LIBRARIES, 0) * each, kinds.get(GRAPH, 0) * each
    wall, own = libraries + graph / cores, kinds.get(EVALS, 0) * each
    rows = [
        f"floor: {libraries:.1f} s are imports of libraries, {graph:.1f} s the graph's own work (with LangGraph).",
        f"No change of evals takes them away. With the graph on {cores} cores they are {wall:.1f} s of wall time.",
        f"The other {own:.1f} s are evals' own.",
    ]
    return "\n".join(rows)


def with_floor(line: Line, scene: Path, *words: str) -> Line:
    """The line; where its goal is not met, with what `evals WORDS` spends its time on in one process in `scene`."""
    if line.met is not False:
        return line
    return replace(line, floor=json.loads(run(["-m", "tests.bench.sampled", *words], scene).out.splitlines()[-1]))


@cache
def package_of(file: str) -> str:
    """What a source file belongs to: a module or folder of ours, an installed package, or a module of Python's own."""
    path = Path(file)
    if "site-packages" in path.parts:
        return Path(*path.parts[path.parts.index("site-packages") + 1 :]).parts[0].removesuffix(".py")
    if path.is_relative_to(REPOSITORY):
        return "/".join(path.relative_to(REPOSITORY).parts[:3]).removesuffix(".py")
    if "triage" in path.parts:  # of a checkout that the graph is run in
        return "/".join(path.parts[path.parts.index("triage") :][:3]).removesuffix(".py")
    inner = path.parts[path.parts.index(_VERSION) + 1 :] if _VERSION in path.parts else (path.name,)
    return f"python: {inner[0].removesuffix('.py')}"


_VERSION: Final = f"python{sys.version_info[0]}.{sys.version_info[1]}"


def _place(frame: FrameType | None) -> str:
    """Where a sample is: the package of its innermost frame; below an import, which package is being imported."""
    innermost, foreign, imported = "", "", ""
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(_LOADER):
            imported = f"{IMPORTS}: {foreign or 'our own'}"
        elif "site-packages" in file:
            foreign = package_of(file)
        innermost = innermost or package_of(file)
        frame = frame.f_back
    return imported or innermost


def _kind(frame: FrameType | None, place: str) -> str:
    """Whose work it is: that of the first who is evals or the graph, from the innermost caller outward."""
    if place.startswith(IMPORTS):
        return EVALS if place.endswith("our own") else LIBRARIES
    while frame is not None:
        package = package_of(frame.f_code.co_filename)
        if package.startswith(("triage", "lang")):
            return GRAPH
        if package.startswith(EVALS):
            return EVALS
        frame = frame.f_back
    return EVALS


def main(*words: str) -> None:
    """`evals WORDS`, its workers' work done here."""
    started, kinds = time.process_time(), Counter[str]()
    with sampled(kinds) as found:
        from evals.cli.main import main as evals

        evals([*words, "--jobs", "1"])
    seconds = time.process_time() - started
    print(json.dumps(f"{told(found, seconds)}\n{floor_of(kinds, seconds, os.cpu_count() or 1)}"))


if __name__ == "__main__":
    main(*sys.argv[1:])

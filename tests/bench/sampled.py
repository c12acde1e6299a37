"""Where a command's processor time goes, package by package: what stands in the way of a goal that is not met.

The program is interrupted every few milliseconds of processor time and asked where it is. A profiler that follows every
call would make small functions dearer than they are. Imports are a line for each package that we import, with all that
it imports itself.
"""

import json
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Final

from tests.bench.cost import REPOSITORY, run
from tests.bench.line import Line

EVERY_S: Final = 0.005
LINES: Final = 14
IMPORTS: Final = "imports"
_LOADER: Final = "<frozen importlib"


@contextmanager
def sampled() -> Iterator[Counter[str]]:
    """Counts, while the block runs, in which package this process is found. For the main thread of one process."""
    found: Counter[str] = Counter()
    before = signal.signal(signal.SIGPROF, lambda _, frame: found.update([_place(frame)]))
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


def with_floor(line: Line, scene: Path, *words: str) -> Line:
    """The line; where its goal is not met, with what `evals WORDS` spends its time on in one process in `scene`."""
    if line.met is not False:
        return line
    return replace(line, floor=json.loads(run(["-m", "tests.bench.sampled", *words], scene).out.splitlines()[-1]))


def package_of(file: str) -> str:
    """What a source file belongs to: a module or folder of ours, an installed package, or a module of Python's own."""
    path = Path(file)
    if "site-packages" in path.parts:
        return Path(*path.parts[path.parts.index("site-packages") + 1 :]).parts[0].removesuffix(".py")
    if path.is_relative_to(REPOSITORY):
        return "/".join(path.relative_to(REPOSITORY).parts[:3]).removesuffix(".py")
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


def main(*words: str) -> None:
    """`evals WORDS`, its workers' work done here."""
    started = time.process_time()
    with sampled() as found:
        from evals.cli.main import main as evals

        evals([*words, "--jobs", "1"])
    print(json.dumps(told(found, time.process_time() - started)))


if __name__ == "__main__":
    main(*sys.argv[1:])

"""The long random search: `python -m tests.explore [MINUTES] [PATH ...]`, 10 minutes over all properties if not said.

`make test` tries the same examples each time. Here file after file is tried, each time with another seed, as long as
there is time; what is found is printed as the line to add above its test, so that it is tried for ever (exit code 1).
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
MINUTES: Final = 10.0
_FALSIFYING: Final = re.compile(r"Failing test case: (\w+)\(\n(.*?)\n(?:E\s+)?\)", re.DOTALL)
_FAILED: Final = re.compile(r"^FAILED (\S+?)::(\S+)", re.MULTILINE)


@dataclass(frozen=True)
class Found:
    """A test that fails, and the example that does it; empty if the failure names none."""

    test: str
    example: str

    def __str__(self) -> str:
        return f"{self.test}: add above it\n    {self.example}" if self.example else f"{self.test}: fails by itself"


def main(*words: str) -> int:
    """Search until the time is over or something is found."""
    said = [word for word in words if re.fullmatch(r"[\d.]+", word)]
    minutes = float(said[0]) if said else MINUTES
    paths = [word for word in words if word not in said] or sorted(properties())
    until = time.monotonic() + 60 * minutes
    first = time.time_ns()
    for tried, path in enumerate(cycle(paths)):
        if time.monotonic() > until:
            print(f"{len(paths)} files, {tried / len(paths):.1f} times each in {minutes:g} minutes: nothing found")
            return 0
        if found := searched(path, first + tried):
            print(f"with seed {first + tried}:", *found, sep="\n")
            return 1
    return 2  # no path


def properties() -> Iterator[str]:
    """The test files that hold a property."""
    for path in (ROOT / "tests").rglob("test_*.py"):
        if "@given(" in path.read_text(encoding="utf-8"):
            yield path.relative_to(ROOT).as_posix()


def searched(path: str, seed: int) -> list[Found]:
    """One file's properties, with one seed."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "hypothesis"]
    done = subprocess.run(
        [*command, f"--hypothesis-seed={seed}", path],
        cwd=ROOT,
        env={**os.environ, "HYPOTHESIS_PROFILE": "explore"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in {0, 1}:
        raise SystemExit(f"explore: pytest did not get to its end:\n{(done.stdout + done.stderr)[-2000:]}")
    return found_in(done.stdout)


def found_in(report: str) -> list[Found]:
    """What a report of pytest says failed, and by which example."""
    examples = {name: _decorator(arguments) for name, arguments in _FALSIFYING.findall(report)}
    return [
        Found(f"{path}::{name}", examples.get(name.partition("[")[0], "")) for path, name in _FAILED.findall(report)
    ]


def _decorator(arguments: str) -> str:
    lines = [re.sub(r"^E?\s+|\s*# or any other.*$", "", line) for line in arguments.splitlines()]
    return f"@example({' '.join(lines).rstrip(', ')})"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

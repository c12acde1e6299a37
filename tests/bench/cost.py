"""What a command costs: wall and processor seconds and peak memory, of itself and all it starts.

Wall time is what a person waits; processor time of all processes together is what a busy machine leaves comparable.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

REPOSITORY = Path(__file__).parents[2]
_USUAL = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""Python compiles a module once, unless it is told to do it each time: that is not what people wait for."""


@dataclass(frozen=True)
class Cost:
    """Seconds, and MB of the largest process."""

    wall_s: float
    cpu_s: float
    peak_mb: float
    out: str

    @property
    def seconds(self) -> str:
        """Both kinds of seconds, in words."""
        return f"{self.wall_s:.1f} s wall, {self.cpu_s:.1f} s processor"


def evals(cwd: Path, *words: str, codes: Sequence[int] = (0, 1, 3), **environment: str) -> Cost:
    """`evals WORDS` in `cwd`."""
    return run(["-m", "evals", *words], cwd, codes, environment)


def run(words: Sequence[str], cwd: Path, codes: Sequence[int] = (0,), environment: Mapping[str, str] = {}) -> Cost:
    """`python WORDS` in `cwd`. Raises RuntimeError if it ends otherwise than with one of `codes`."""
    with NamedTemporaryFile() as told:
        launched = subprocess.run(
            [sys.executable, "-S", Path(__file__).parent / "launch.py", told.name, sys.executable, *words],
            check=False,
            cwd=cwd,
            env={**_USUAL, "PYTHONPATH": str(REPOSITORY), **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if launched.returncode not in codes:
            raise RuntimeError(f"{' '.join(words)} ended with {launched.returncode}:\n{launched.stdout[-2000:]}")
        return Cost(**json.load(told), out=launched.stdout)

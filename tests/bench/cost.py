"""What a command costs: wall and processor seconds and peak memory, of itself and all it starts.

Wall time is what a person waits; processor time of all processes together is what a busy machine leaves comparable.
"""

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


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
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *words],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    out = process.stdout.read() if process.stdout else ""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in codes:
        raise RuntimeError(f"{' '.join(words)} ended with {process.returncode}:\n{out[-2000:]}")
    return Cost(time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, out)

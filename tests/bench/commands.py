"""What whole commands cost, from start to finished files: parts `suite` (the committed one) and `many` (200 trials).

Wall time is what a person waits; processor time of all processes together is what a busy machine leaves comparable.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.bench.generated import a_checkout

CASES = 67
"""Under three variants: 201 trials."""


def command(words: list[str], cwd: Path) -> str:
    """Run `evals` and say what it took, in words."""
    before, started = os.times(), time.perf_counter()
    environment = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    done = subprocess.run(
        [sys.executable, "-m", "evals", *words],
        cwd=cwd,
        env=environment,
        check=False,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    wall, after = time.perf_counter() - started, os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    last = f": {done.stderr.strip().splitlines()[-1]}" if done.returncode == 2 and done.stderr.strip() else ""
    return f"{wall:.1f} s, processor {spent:.1f} s (exit code {done.returncode}{last})"


def suite(name: str) -> int:
    """All recorded cases of the suite under all its variants."""
    out = ["--out", ".cache/bench"]
    print(f"evals run {name}, result cache empty (limit 15 s): {command(['run', name, '--fresh', *out], Path())}")
    print(f"evals run {name}, nothing changed (limit 3 s): {command(['run', name, *out], Path())}")
    rendered = ["report", ".cache/bench/run.json", *out]
    print(f"report from a stored run (limit 1.5 s): {command(rendered, Path())}")
    return 0


def many(_suite: str) -> int:
    """200 trials of some ten requests, generated: command start to finished page."""
    with tempfile.TemporaryDirectory() as scratch:
        checkout = a_checkout(Path(scratch) / "checkout", CASES)
        print(f"{CASES * 3} trials, result cache empty (limit 6 s): {command(['run', 'many.yaml'], checkout)}")
        print(f"{CASES * 3} trials, nothing changed (limit 2 s): {command(['run', 'many.yaml'], checkout)}")
    return 0

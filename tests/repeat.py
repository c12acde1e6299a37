"""`make test REPEAT=20`: the whole suite so many times in random order, every second time beside four busy processes.

Usage: python -m tests.repeat ROUNDS [--seed N] [pytest arguments ...]

A round follows from its seed alone: the order of the tests, Python's hashes, the time zone, and whether there is load.
The output of a round that fails is kept in `.cache/repeat`. Interrupted, the command says how to go on. Ends with a
table; exit code 1 if any test failed in any round, 2 for wrong usage, 130 if interrupted.
"""

import argparse
import random
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
LOGS: Final = ROOT / ".cache" / "repeat"
BUSY: Final = 4
ZONES: Final = ("UTC", "Pacific/Kiritimati", "America/St_Johns", "Pacific/Niue", "Asia/Kathmandu")
"""14 hours before UTC to 11 behind it: it is another day somewhere at any time."""
SPIN: Final = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    sum(range(1_000_000))"
"""Uses a whole core, and ends by itself when its parent is gone, however that ended."""


def main(*words: str) -> int:
    """Run the rounds, and print their table."""
    parser = argparse.ArgumentParser(prog="python -m tests.repeat", allow_abbrev=False)
    parser.add_argument("rounds", type=_count)
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of the first round; the next ones follow")
    told, pytest_args = parser.parse_known_args(words)
    rows: list[tuple[str, list[str]]] = []
    for seed in range(told.seed, told.seed + told.rounds):
        try:
            rows.append(run(seed, pytest_args))
        except KeyboardInterrupt:
            left = shlex.quote(shlex.join(["--seed", str(seed), *pytest_args]))
            rest = f"make test REPEAT={told.rounds - len(rows)} PYTEST_ARGS={left}"
            print(f"repeat: interrupted after {len(rows)} rounds; go on with: {rest}", file=sys.stderr)
            return 130
    print("| seed | how | minutes | failures |", "|---:|---|---:|---:|", *(row for row, _ in rows), sep="\n")
    failures = [test for _, failed in rows for test in failed]
    for test in dict.fromkeys(failures):
        print(f"{test}: failed in {failures.count(test)} of {told.rounds} rounds")
    return int(bool(failures))


def command(seed: int, pytest_args: list[str]) -> list[str]:
    """What runs one round, but for its load. Every fourth shuffles all tests, so that shared fixtures are made many
    times; the others shuffle files among themselves and tests within files."""
    zone = random.Random(seed).choice(ZONES)  # noqa: S311 - a zone, no key
    order = [f"--random-order-bucket={'global' if seed % 4 == 2 else 'module'}", f"--random-order-seed={seed}"]
    runs = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal", *order, *pytest_args]
    return ["env", f"TZ={zone}", f"PYTHONHASHSEED={seed % 2**32}", *runs]


def run(seed: int, pytest_args: list[str]) -> tuple[str, list[str]]:
    """One round: its row of the table, and the tests that failed. A pytest that does not come to its end has failed."""
    words, began = command(seed, pytest_args), time.monotonic()
    print(f"seed {seed}: {shlex.join(words)}", flush=True)
    with busy(BUSY * (seed % 2)):
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, errors="replace", check=False)
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    if done.returncode and not failed:
        failed = [f"pytest ended with exit code {done.returncode}"]
    if failed:
        LOGS.mkdir(parents=True, exist_ok=True)
        log = LOGS / f"seed-{seed}.txt"
        log.write_text(done.stdout + done.stderr, encoding="utf-8")
        print(*failed, f"output: {log}", sep="\n  ", flush=True)
    how = f"{words[1]}, {'loaded' if seed % 2 else 'alone'}"
    return f"| {seed} | {how} | {(time.monotonic() - began) / 60:.1f} | {len(failed)} |", failed


@contextmanager
def busy(processes: int) -> Iterator[list["subprocess.Popen[bytes]"]]:
    """So many processes that each use a whole core, until the block ends."""
    spin = [sys.executable, "-S", "-c", SPIN]
    load = [subprocess.Popen(spin, start_new_session=True) for _ in range(processes)]  # Ctrl-C is not for them
    try:
        yield load
    finally:
        for process in load:
            process.kill()
            process.wait()


def _count(word: str) -> int:
    if not word.isdecimal() or int(word) < 1:
        raise argparse.ArgumentTypeError("give a number of rounds, 1 or more")
    return int(word)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

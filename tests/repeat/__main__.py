"""`make test REPEAT=20`: the whole suite so many times in random order, every second time beside four busy processes.

Usage: python -m tests.repeat ROUNDS [--seed N] [--results FILE] [pytest arguments ...]

Each round has a seed for the order of tests and for Python's hashes, a time zone, and an order: of whole files (tests
shuffled within files, files among themselves) or of all tests. Its result is added to the results file (JSON Lines) as
soon as it is over, and the output of a round that fails is kept beside it. Interrupted, the same command goes on with
the next round, as long as the code is the same. Ends with a table; exit code 1 if any test failed in any round, 2 for
wrong usage, 130 if interrupted.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import Final

from tests.repeat.load import busy
from tests.repeat.results import Results, Round, table
from tests.repeat.rounds import ROOT, Plan, run

RESULTS: Final = ROOT / ".cache" / "repeat" / "results.jsonl"
BUSY: Final = 4


def main(*words: str) -> int:
    """Run the rounds that are missing, and print the table of all."""
    parser = argparse.ArgumentParser(prog="python -m tests.repeat", allow_abbrev=False)
    parser.add_argument("rounds", type=_count)
    parser.add_argument("--seed", type=int, help="of the first round; the next ones follow (default: by the clock)")
    parser.add_argument("--results", type=Path, default=RESULTS)
    told, pytest_args = parser.parse_known_args(words)
    results = Results.opened(told.results, told.seed, pytest_args)
    if results.done:
        print(f"going on after {len(results.done)} rounds of {results.path}", flush=True)
    try:
        for number in range(len(results.done), told.rounds):
            results.add(_round(Plan.of(number, results.seed), pytest_args, results.path.parent))
    except KeyboardInterrupt:
        print(f"repeat: interrupted after {len(results.done)} rounds; the same command goes on", file=sys.stderr)
        return 130
    print(table(results.done))
    return int(any(done.failures for done in results.done))


def _round(plan: Plan, pytest_args: list[str], folder: Path) -> Round:
    print(f"round {plan.number + 1}: {plan}", flush=True)
    began = time.monotonic()
    with busy(BUSY if plan.is_loaded else 0):
        found = run(plan, pytest_args)
    done = Round(plan.number + 1, plan.seed, str(plan), round(time.monotonic() - began, 1), found.tests, found.failures)
    print(f"  {done.tests} tests in {done.seconds / 60:.1f} minutes, {len(done.failures)} failures", flush=True)
    for failure in done.failures:
        print(f"  {failure.test}: {failure.line}", flush=True)
    if done.failures:
        log = folder / f"round-{done.number}-seed-{done.seed}.txt"
        log.write_text(found.output, encoding="utf-8")
        print(f"  output: {log}\n  again: {plan.command(pytest_args)}", flush=True)
    return done


def _count(word: str) -> int:
    if not word.isdecimal() or int(word) < 1:
        raise argparse.ArgumentTypeError("give a number of rounds, 1 or more")
    return int(word)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

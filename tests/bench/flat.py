"""Whether trial 19,200 costs what trial 192 did, in time and in memory: part `flat`.

One worker's work in a process of its own: it reads a case's cassette, replays three variants, and goes on. What
`evals run` itself keeps (the traces, for the report) grows with the run, and is not measured here.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from evals.runner.case_task import CaseTask, run_case
from evals.suites.suite_files import read_suite
from evals.triage.dataset.load_cases import load_cases
from evals.workspace import Workspace
from tests.bench.generated import a_checkout

CASES = int(os.environ.get("BENCH_CASES", "640"))
"""BENCH_CASES=6400 measures what the goal says; it takes ten times as long."""
BLOCK = 64
ALLOWED = 0.10


def main(_suite: str) -> int:
    """Generate, then measure in a fresh process. Returns 1 if one of the two grew by more than a tenth."""
    with tempfile.TemporaryDirectory() as scratch:
        checkout = a_checkout(Path(scratch) / "checkout", CASES)
        return subprocess.run([sys.executable, "-m", "tests.bench.flat", str(checkout)], check=False).returncode


def measured(checkout: Path) -> int:
    place = Workspace.at(checkout)
    cases, suite = load_cases(place.datasets), read_suite(str(checkout / "many.yaml"))
    times: list[float] = []
    memory: list[float] = []
    for n, case in enumerate(cases.values(), 1):
        started = time.process_time()
        traces = run_case(
            CaseTask(case, suite.variants, 0, place.cassette(case.id), place.datasets, place.cache, place.vectors)
        )
        times.append((time.process_time() - started) / len(traces))
        if {trace.provenance.label for trace in traces} != {"exact"}:
            print(f"bench: {case.id} does not replay: {traces[0].error or traces[0].misses[:1]}")
            return 1
        if n % BLOCK == 0:
            memory.append(resident_mb())
    third = max(len(times) // 3, 1)
    first, last = _best(times[:third]) * 1000, _best(times[-third:]) * 1000
    before, after = memory[0], memory[-1]
    print(
        f"flat: {len(cases)} cases, {len(traces[0].calls)} requests a trial; first and last third, in blocks of {BLOCK}"
    )
    print(f"  time per trial: {first:.1f} ms, then {last:.1f} ms: {last / first:.2f}")
    print(f"  memory: {before:.0f} MB, then {after:.0f} MB: {after / before:.2f}")
    grew = max(last / first, after / before)
    print(f"  allowed: {1 + ALLOWED:.2f}; {'flat' if grew <= 1 + ALLOWED else 'grows'}")
    return int(grew > 1 + ALLOWED)


def _best(times: list[float]) -> float:
    """The fastest block, by the mean of its faster half: a machine is slow for seconds at a time, not for a third."""
    halves = [sorted(times[at : at + BLOCK])[: max(BLOCK // 2, 1)] for at in range(0, len(times), BLOCK)]
    return min(sum(half) / len(half) for half in halves)


def resident_mb() -> float:
    """Memory this process holds now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


if __name__ == "__main__":
    sys.exit(measured(Path(sys.argv[1])))

"""A whole run in this process, its workers apart; says what this process took."""

import json
import sys
from datetime import date
from pathlib import Path

from evals.pipeline.load_suite import load_suite
from evals.pipeline.run_suite import finish, replay


def main(checkout: Path) -> None:
    """What `evals run many.yaml` does."""
    chosen = load_suite(str(checkout / "many.yaml"), checkout, today=date(2026, 1, 1))
    start = peak_mb()
    trials = replay(chosen, jobs=2)
    finish(chosen, trials, checkout / "out")
    exact = sum(trace.provenance.label == "exact" for trace in trials.traces)
    if exact != len(trials.traces):
        raise RuntimeError(f"only {exact} of {len(trials.traces)} trials replay")
    print(json.dumps({"trials": exact, "start_mb": start, "peak_mb": peak_mb()}))


def peak_mb() -> float:
    """The most this process held so far; what `getrusage` says is never less than what its parent held."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


if __name__ == "__main__":  # workers import this module again
    main(Path(sys.argv[1]))

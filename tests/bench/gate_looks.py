"""How often looks at gate call a useless prompt better, and how often they see that a better one is.

`python -m tests.bench.gate_looks` prints both, simulated with a seed. A look is the comparison
of one candidate with the reference on the gate cases; look k is tested at alpha / (k (k + 1)).
"""

import sys
from typing import Final

import numpy as np

from evals.pipeline.optimize_prompts import look_alpha
from evals.statistics.paired_tests import sign_flip

SEED: Final = 34
RUNS: Final = 2000
ALPHA: Final = 0.05
CANDIDATES, GATE_CASES = 50, 74
GAINED, LOST = 0.2, 0.02
LOOKS: Final = (1, 2, 5, 10, 20)


def useless(rng: np.random.Generator) -> list[float]:
    """The p of "better" for candidates that are as good as the reference, all compared with the same answers of it."""
    chance = rng.uniform(0.2, 0.95, GATE_CASES)  # how often each case passes
    reference = rng.random(GATE_CASES) < chance
    # most answers of a candidate are those of the reference, as for a changed line of a prompt
    same = rng.random((CANDIDATES, GATE_CASES)) < 0.6
    drawn = rng.random((CANDIDATES, GATE_CASES)) < chance
    changes = np.where(same, 0, drawn.astype(int) - reference.astype(int))
    return [_better(each, rng) for each in changes]


def false_gains(runs: int, seed: int = SEED) -> tuple[int, int]:
    """Of `runs` with only useless candidates, those in which at least one is called better: by looks, and at 5 %."""
    rng = np.random.default_rng(seed)
    found = [useless(rng) for _ in range(runs)]
    by_looks = sum(any(p <= look_alpha(ALPHA, look) for look, p in enumerate(run, 1)) for run in found)
    return by_looks, sum(any(p <= ALPHA for p in run) for run in found)


def power(cases: int, runs: int, seed: int = SEED) -> list[float]:
    """Shares of comparisons that call a better candidate better: at each of `LOOKS`, and at 5 %. A case is gained with
    the chance `GAINED` and lost with the chance `LOST`."""
    rng = np.random.default_rng([seed, cases])
    drawn = rng.choice([1, -1, 0], p=[GAINED, LOST, 1 - GAINED - LOST], size=(runs, cases))
    found = np.array([_better(each, rng) for each in drawn])
    return [float(np.mean(found <= alpha)) for alpha in (*(look_alpha(ALPHA, look) for look in LOOKS), ALPHA)]


def _better(changes: "np.ndarray[tuple[int], np.dtype[np.int64]]", rng: np.random.Generator) -> float:
    """The p-value of "better", every case a cluster of its own."""
    tested = sign_flip(changes.tolist(), [str(number) for number in range(len(changes))], rng)
    return tested.better if tested else 1.0


def main() -> int:
    counted, uncounted = false_gains(RUNS)
    print(f"{RUNS:,} runs (seed {SEED}) with {CANDIDATES} useless candidates and {GATE_CASES} gate cases.")
    print("At least one candidate is called better in:")
    print(f"- {counted:,} runs ({counted / RUNS:.1%}) with look k at alpha / (k (k + 1))")
    print(f"- {uncounted:,} runs ({uncounted / RUNS:.1%}) with every look at {ALPHA:.0%}\n")
    print(f"A candidate that gains {GAINED:.0%} of the cases and loses {LOST:.0%} is called better in:\n")
    print(f"| gate cases | {' | '.join(f'look {look}' for look in LOOKS)} | one look at {ALPHA:.0%} |")
    print(f"|---{'|---' * (len(LOOKS) + 1)}|")
    for cases in (35, GATE_CASES):
        print(f"| {cases} | {' | '.join(f'{share:.0%}' for share in power(cases, RUNS))} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Generated outcomes through the real comparison and gate: how often nothing is called worse, and how often a loss is.

Model: each of n cases passes or fails alike under both variants; then each side's outcome is turned round with
probability `churn`, independently. With `flips` planted, that many cases passed before and fail now. Replay itself has
no churn; a system that is sampled anew has some, and false alarms need it.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evals.errors import EXIT_WORSE
from evals.judging import gate
from evals.judging.comparison import compare
from evals.models.run import Coverage
from evals.models.selftest import RedRate
from evals.models.suite import GatePolicy
from evals.stats.intervals import wilson

ENDPOINTS: Final = ("route.pass", "root_cause.hit", "decision.score")
PASSING: Final = 0.6
"""The share of generated cases that pass before anything is turned round."""


def red_rate(cases: int, flips: int, churn: float, draws: int, policy: GatePolicy, rng: np.random.Generator) -> RedRate:
    """Draw and judge; flips are planted in the first endpoint. Without churn all draws are alike, and one is made."""
    made = draws if churn else 1
    red = sum(judged(cases, flips, churn, policy, rng) == EXIT_WORSE for _ in range(made))
    low, high = (churn and wilson(red, made)) or (None, None)
    return RedRate(cases=cases, flips=flips, churn=churn, red=red, draws=made, low=low, high=high)


def judged(cases: int, flips: int, churn: float, policy: GatePolicy, rng: np.random.Generator) -> int:
    """The gate's exit code on one draw; every case is its own cluster."""
    names = [f"case-{n}" for n in range(cases)]
    passing = max(round(cases * PASSING), min(flips, cases))
    endpoints = {}
    for endpoint in ENDPOINTS:
        was = np.arange(cases) < passing
        now = was.copy()
        if endpoint == ENDPOINTS[0]:
            now[:flips] = False
        was, now = (side ^ (rng.random(cases) < churn) for side in (was, now))
        endpoints[endpoint] = (_values(names, now), _values(names, was))
    told = compare({("now", "was"): endpoints}, {name: name for name in names}, "reference", policy)
    full = Coverage(exact=cases, frontier=0, unrecorded=0, failed=0)
    facts = gate.Facts(
        candidate="now",
        reference="was",
        record_command="none",
        policy=policy,
        coverage={"now": full, "was": full},
        judged=told,
    )
    return gate.judge(facts).exit_code


def _values(names: Sequence[str], passed: NDArray[np.bool_]) -> dict[str, float]:
    return {name: float(value) for name, value in zip(names, passed, strict=True)}

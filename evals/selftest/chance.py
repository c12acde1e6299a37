"""Generated outcomes through the real comparison and gate: how often nothing is called worse, and how often a loss is.

Model: each of n cases passes or fails alike for candidate, reference and both of their baselines; then each outcome is
turned round with probability `churn`, independently. Every second case fails by a hard constraint. With `flips`
planted, that many cases passed before and fail now. Replay itself has no churn; answers that are recorded anew have.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evals.errors import EXIT_WORSE
from evals.judging import gate
from evals.judging.comparison import Against, Names, compare_family
from evals.judging.facts import rule_facts
from evals.judging.pairing import Values
from evals.judging.violations import ON_ROUTES, PairedRule, change_test, rule_test
from evals.models.run import Coverage
from evals.models.selftest import RedRate
from evals.models.suite import GatePolicy
from evals.stats.intervals import rate_interval

ENDPOINTS: Final = ("route.pass", "root_cause.hit", "decision.score")
PASSING: Final = 0.6
"""The share of generated cases that pass before anything is turned round."""
AGAINST: Final[dict[Names, Against]] = {
    ("now", "was"): "reference",
    ("now", "now (baseline)"): "baseline",
    ("was", "was (baseline)"): "baseline",
}
SIDES: Final = ("now", "was", "now (baseline)", "was (baseline)")


def red_rate(cases: int, flips: int, churn: float, draws: int, policy: GatePolicy, rng: np.random.Generator) -> RedRate:
    """Draw and judge; flips are planted in the first endpoint. Without churn all draws are alike, and one is made."""
    made = draws if churn else 1
    red = sum(judged(cases, flips, churn, policy, rng) == EXIT_WORSE for _ in range(made))
    low, high = (churn and rate_interval(red, made)) or (None, None)
    return RedRate(cases=cases, flips=flips, churn=churn, red=red, draws=made, low=low, high=high)


def judged(cases: int, flips: int, churn: float, policy: GatePolicy, rng: np.random.Generator) -> int:
    """The gate's exit code on one draw; every case is its own cluster."""
    names = [f"case-{n}" for n in range(cases)]
    clusters = {name: name for name in names}
    passing = max(round(cases * PASSING), min(flips, cases))
    passed: dict[str, dict[str, NDArray[np.bool_]]] = {}
    for endpoint in ENDPOINTS:
        for side in SIDES:
            outcome = np.arange(cases) < passing
            if endpoint == ENDPOINTS[0] and side == "now":
                outcome[:flips] = False
            passed.setdefault(side, {})[endpoint] = outcome ^ (rng.random(cases) < churn)
    family = {
        (left, right): {
            endpoint: (_values(names, passed[left][endpoint]), _values(names, passed[right][endpoint]))
            for endpoint in ENDPOINTS
        }
        for left, right in AGAINST
    }
    rules = {
        (pair, ON_ROUTES): _hard(pair, names, passed[pair[0]][ENDPOINTS[0]], passed[pair[1]][ENDPOINTS[0]], clusters)
        for pair, against in AGAINST.items()
        if against == "baseline"
    }
    told = compare_family(family, clusters, AGAINST, policy, None, {key: rule.test for key, rule in rules.items()})
    full = Coverage(exact=cases, frontier=0, unrecorded=0, failed=0)
    facts = gate.Facts(
        candidate="now",
        reference="was",
        record_command="none",
        policy=policy,
        coverage={"now": full, "was": full},
        judged=told.comparisons,
        **rule_facts([rule_test(rule, *told.rules[key], clusters, policy) for key, rule in rules.items() if rule.lost]),
    )
    return gate.judge(facts).exit_code


def _hard(
    pair: Names,
    names: Sequence[str],
    now: NDArray[np.bool_],
    was: NDArray[np.bool_],
    clusters: dict[str, str],
) -> PairedRule:
    """Hard constraints of one variant against its baseline: every second case that fails violates one."""
    own = [names[place] for place in range(1, len(names), 2)]
    lost: dict[str, tuple[str, ...]] = {
        name: ("generated",) for name, before, after in zip(own, was[1::2], now[1::2], strict=True) if before > after
    }
    gained = {name for name, before, after in zip(own, was[1::2], now[1::2], strict=True) if after > before}
    return PairedRule(
        rule=ON_ROUTES,
        left=pair[0],
        right=pair[1],
        against="baseline",
        lost=lost,
        gained=tuple(sorted(gained)),
        certain=(),
        shown=bool(lost),
        test=change_test(names, lost, gained, clusters),
    )


def _values(names: Sequence[str], passed: NDArray[np.bool_]) -> Values:
    return {name: float(value) for name, value in zip(names, passed, strict=True)}

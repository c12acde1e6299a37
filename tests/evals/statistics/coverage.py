"""Simulation: how often each interval covers the truth, and each test raises a false alarm.

`python -m tests.evals.statistics.coverage [DRAWS]` prints the table. Every row is a function of the package, a kind of
outcome with a known truth, a number of cases, and clusters of one or two cases that always move together.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evals.statistics.intervals import Interval, fraction_interval, macro_interval, mean_interval
from evals.statistics.paired_tests import difference_interval, sign_flip

Values = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Values]

CASES: Final = (8, 20, 80)
SIZES: Final = (1, 2)
CASES_WITH_THREE_POINTS: Final = 3
NODES: Final = 6

SINGLE: Final[dict[str, tuple[Draw, float]]] = {
    "rate 50 %": (lambda rng, n: (rng.random(n) < 0.5).astype(float), 0.5),
    "rate 80 %": (lambda rng, n: (rng.random(n) < 0.8).astype(float), 0.8),
    "rate 90 %": (lambda rng, n: (rng.random(n) < 0.9).astype(float), 0.9),
    "rate 98 %": (lambda rng, n: (rng.random(n) < 0.98).astype(float), 0.98),
    "grades, mean 0.87": (lambda rng, n: rng.choice([0, 0.5, 1], p=[0.05, 0.16, 0.79], size=n), 0.87),
    "grades, mean 0.5": (lambda rng, n: rng.choice([0, 0.5, 1], p=[0.3, 0.4, 0.3], size=n), 0.5),
    "grades, mean 0.95": (lambda rng, n: rng.choice([0, 0.5, 1], p=[0.02, 0.06, 0.92], size=n), 0.95),
    "skewed fractions, mean 0.83": (lambda rng, n: rng.beta(0.5, 0.1, size=n), 5 / 6),
}
UNBOUNDED: Final[dict[str, tuple[Draw, float]]] = {
    "counts (Poisson)": (lambda rng, n: rng.poisson(4, size=n).astype(float), 4.0),
    "skewed amounts (gamma 2)": (lambda rng, n: rng.gamma(2, size=n), 2.0),
    "skewed amounts (exponential)": (lambda rng, n: rng.exponential(size=n), 1.0),
}
STEPS: Final = (-1.0, -0.5, 0.0, 0.5, 1.0)
PAIRED: Final[dict[str, Sequence[float]]] = {
    "pass or fail, 10 % each way": (0.1, 0, 0.8, 0, 0.1),
    "pass or fail, 30 % each way": (0.3, 0, 0.4, 0, 0.3),
    "pass or fail, 5 % lost, 2 % gained": (0.05, 0, 0.93, 0, 0.02),
    "pass or fail, 20 % lost, 5 % gained": (0.2, 0, 0.75, 0, 0.05),
    "grades, alike both ways": (0.05, 0.15, 0.6, 0.15, 0.05),
    "grades, few change": (0, 0.04, 0.92, 0.04, 0),
    "grades, skewed: many small losses, few gains": (0, 0.2, 0.7, 0, 0.1),
}
NULLS: Final[dict[str, tuple[Sequence[float], Sequence[float]]]] = {
    name: (STEPS, chances) for name, chances in PAIRED.items() if abs(np.dot(STEPS, chances)) < 1e-9
} | {"very skewed: 80 % lose 0.1, 20 % gain 0.4": ((-0.1, 0.4), (0.8, 0.2))}


class Row(NamedTuple):
    """The share of draws in which an interval covered the truth, or a test at 5 % was significant without cause.
    `share` is None where the package gives no interval."""

    what: str
    outcome: str
    cases: int
    cluster: int
    share: float | None


def intervals(draws: int, seed: int = 1) -> Iterator[Row]:
    """Coverage of every interval that gate and report show."""
    for cases in CASES:
        for size in SIZES:
            rng = np.random.default_rng([seed, cases, size])
            owners = _owners(cases, size)
            for name, (draw, truth) in SINGLE.items():
                found = [fraction_interval(_alike(draw, rng, cases, size), owners) for _ in range(draws)]
                yield Row("fraction", name, cases, size, _covered(found, truth))
            for name, (draw, truth) in UNBOUNDED.items():
                found = [mean_interval(_alike(draw, rng, cases, size), owners) for _ in range(draws)]
                yield Row("amount", name, cases, size, _covered(found, truth))
            for name, chances in PAIRED.items():
                changes = (_alike(_steps(STEPS, chances), rng, cases, size) for _ in range(draws))
                found = [difference_interval(each, owners) for each in changes]
                yield Row("paired difference", name, cases, size, _covered(found, float(np.dot(STEPS, chances))))
            for name, spread in (("nodes alike", 0.0), ("nodes apart", 0.2)):
                yield Row("macro-average", name, cases, size, _macro(draws, rng, cases, size, spread))


def alarms(draws: int, seed: int = 2) -> Iterator[Row]:
    """False alarms of the paired test at 5 %: differences with mean 0."""
    for cases in CASES:
        for size in SIZES:
            rng = np.random.default_rng([seed, cases, size])
            owners = _owners(cases, size)
            for name, (steps, chances) in NULLS.items():
                changes = (_alike(_steps(steps, chances), rng, cases, size) for _ in range(draws))
                tests = [sign_flip(each, owners, rng) for each in changes]
                red = [test is not None and test.worse <= 0.05 for test in tests]
                yield Row("false alarm", name, cases, size, float(np.mean(red)))


def _steps(steps: Sequence[float], chances: Sequence[float]) -> Draw:
    return lambda rng, count: rng.choice(steps, p=chances, size=count)


def _owners(cases: int, size: int) -> list[int]:
    return [case // size for case in range(cases)]


def _alike(draw: Draw, rng: np.random.Generator, cases: int, size: int) -> Values:
    return np.repeat(draw(rng, cases // size), size)


def _covered(found: Sequence[Interval | None], truth: float) -> float | None:
    known = [interval for interval in found if interval is not None]
    if len(known) < len(found) / 2:
        return None
    return float(np.mean([low - 1e-9 <= truth <= high + 1e-9 for low, high in known]))


def _macro(draws: int, rng: np.random.Generator, cases: int, size: int, spread: float) -> float | None:
    """Three decision points a case, one of six nodes each, of which two are rare; a cluster repeats its points."""
    rates = np.linspace(0.9 - spread, 0.9 + spread / 4, NODES)
    often = np.array([0.3, 0.2, 0.2, 0.15, 0.1, 0.05])
    owners = np.repeat(_owners(cases, size), CASES_WITH_THREE_POINTS).tolist()
    covered = []
    for _ in range(draws):
        nodes = rng.choice(NODES, p=often, size=(cases // size, CASES_WITH_THREE_POINTS))
        grades = np.where(
            rng.random(nodes.shape) < rates[nodes], 1.0, np.where(rng.random(nodes.shape) < 0.3, 0.5, 0.0)
        )
        groups = np.repeat(nodes, size, axis=0).ravel()
        found = macro_interval(np.repeat(grades, size, axis=0).ravel(), groups.tolist(), owners)
        seen = rates[sorted(set(groups.tolist()))]
        truth = float(np.mean(seen + (1 - seen) * 0.3 * 0.5))
        covered.append(found is not None and found.low <= truth <= found.high)
    return float(np.mean(covered))


def table(rows: Sequence[Row]) -> str:
    """The rows as Markdown, a column per number of cases and size of cluster."""
    columns = [(cases, size) for cases in CASES for size in SIZES]
    head = [f"{cases} cases{', pairs' if size > 1 else ''}" for cases, size in columns]
    lines = ["| | outcome | " + " | ".join(head) + " |", "|---|---|" + "---:|" * len(head)]
    for what, outcome in dict.fromkeys((row.what, row.outcome) for row in rows):
        shares = {(row.cases, row.cluster): row.share for row in rows if (row.what, row.outcome) == (what, outcome)}
        cells = ["too few" if shares[column] is None else f"{shares[column]:.1%}" for column in columns]
        lines.append(f"| {what} | {outcome} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print(table([*intervals(times), *alarms(times)]))

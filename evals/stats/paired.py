"""Two variants on the same cases: exact McNemar for pass or fail, cluster bootstrap for grades, Holm for many."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from evals.stats.binomial import at_least, two_sided
from evals.stats.intervals import CONFIDENCE, RESAMPLES, Interval, percentiles, resampled_means

Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True)
class McNemar:
    """The exact McNemar test on `pairs` cases. Under the null a changed case is as likely lost as gained, so `lost` is
    binomial(lost + gained, 1/2); without a changed case every p is 1 (McNemar 1947, exact form)."""

    pairs: int
    lost: int
    gained: int
    p_two_sided: float
    p_worse: float
    p_better: float

    @property
    def difference(self) -> float:
        """Change of the pass rate, candidate minus reference."""
        return (self.gained - self.lost) / self.pairs


def mcnemar(reference: Sequence[bool], candidate: Sequence[bool]) -> McNemar | None:
    """Compare pass/fail of the same cases in the same order; None for an empty sample."""
    pairs = list(zip(reference, candidate, strict=True))
    if not pairs:
        return None
    lost = sum(1 for was, now in pairs if was and not now)
    gained = sum(1 for was, now in pairs if now and not was)
    return McNemar(
        pairs=len(pairs),
        lost=lost,
        gained=gained,
        p_two_sided=two_sided(lost, lost + gained),
        p_worse=at_least(lost, lost + gained),
        p_better=at_least(gained, lost + gained),
    )


@dataclass(frozen=True)
class PairedDifference:
    """Mean of candidate minus reference over `pairs` cases in `clusters` clusters; no interval below two clusters."""

    pairs: int
    clusters: int
    mean: float
    interval: Interval | None


def paired_bootstrap(
    reference: Sequence[float],
    candidate: Sequence[float],
    clusters: Sequence[Hashable],
    rng: np.random.Generator,
    *,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
) -> PairedDifference | None:
    """Percentile bootstrap of the mean difference, clusters (twins, codebases) drawn whole; None if empty."""
    differences = [now - was for was, now in zip(reference, candidate, strict=True)]
    drawn = resampled_means(differences, clusters, rng, resamples)
    if not differences:
        return None
    interval = percentiles(drawn, confidence) if drawn is not None else None
    return PairedDifference(len(differences), len(set(clusters)), float(np.mean(differences)), interval)


def holm(p_values: Mapping[Name, float]) -> dict[Name, float]:
    """Holm's step-down adjusted p-values (Holm 1979), in the order given: compare each with alpha as it is."""
    adjusted: dict[Name, float] = {}
    floor = 0.0
    for rank, name in enumerate(sorted(p_values, key=lambda name: p_values[name])):
        floor = max(floor, min(1.0, (len(p_values) - rank) * p_values[name]))
        adjusted[name] = floor
    return {name: adjusted[name] for name in p_values}

"""Values that do not look like the ones before them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tallyflow.model import Quality, Sample
from tallyflow.rolling import RollingStats

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Rule:
    """A value further than `threshold` deviations from the mean of the last `window` values is suspect.

    Nothing is judged before `warm_up` values are known, and nothing within `tolerance` of the mean, so that a meter
    that stands still for a night is not flagged for the first watt-hour of the morning.
    """

    window: int = 96
    threshold: float = 4.0
    warm_up: int = 24
    tolerance: float = 0.0

    def judges(self, value: float, stats: RollingStats) -> bool:
        """Whether the value is suspect."""
        if len(stats) < self.warm_up:
            return False
        distance = abs(value - stats.mean)
        return distance > self.tolerance and distance > self.threshold * stats.deviation


def flag(name: str, samples: Sequence[Sample], rule: Rule) -> list[Sample]:
    """Samples with the suspect ones marked. Marked and estimated values do not enter the window."""
    stats = RollingStats(rule.window)
    flagged: list[Sample] = []
    for sample in samples:
        if sample.value is None or sample.quality is not Quality.MEASURED:
            flagged.append(sample)
        elif rule.judges(sample.value, stats):
            log.warning(
                "%s: %s at %s is suspect (mean %.3f, deviation %.3f)",
                name,
                round(sample.value, 3),
                sample.slot.start.isoformat(),
                stats.mean,
                stats.deviation,
            )
            flagged.append(replace(sample, quality=Quality.SUSPECT))
        else:
            stats.push(sample.value)
            flagged.append(sample)
    return flagged

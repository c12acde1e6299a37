"""Macro-averages: the mean over groups of the mean inside each, so that a frequent group does not drown a rare one."""

from collections.abc import Hashable, Sequence

from evals.stats.intervals import Interval, fraction_interval


def macro_mean(values: Sequence[float], groups: Sequence[Hashable]) -> float | None:
    """The mean over groups of the mean of their values; None for an empty sample. One group id per value."""
    inside: dict[Hashable, list[float]] = {}
    for group, value in zip(groups, values, strict=True):
        inside.setdefault(group, []).append(value)
    means = [sum(mine) / len(mine) for mine in inside.values()]
    return sum(means) / len(means) if means else None


def macro_weights(groups: Sequence[Hashable]) -> list[float]:
    """What each value counts in the macro-average: 1 / (groups · values of its group). They add up to 1."""
    sizes: dict[Hashable, int] = {}
    for group in groups:
        sizes[group] = sizes.get(group, 0) + 1
    return [1 / (len(sizes) * sizes[group]) for group in groups]


def macro_interval(
    values: Sequence[float], groups: Sequence[Hashable], clusters: Sequence[Hashable]
) -> Interval | None:
    """95 % interval of the macro-average of values between 0 and 1; None as for `fraction_interval`."""
    return fraction_interval(values, clusters, macro_weights(groups) if len(set(groups)) > 1 else None)

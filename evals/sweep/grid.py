"""The settings to try, from what the command line says: every combination once, the present one among them."""

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Final

from pydantic import ValidationError

from evals.errors import ConfigurationError
from evals.models.suite import ConfidenceFloor, Variant
from evals.models.sweep import Point

MOST: Final = 2000
"""Points beyond which a grid is taken for a slip of the pen."""


def numbers(text: str, option: str) -> tuple[float, ...]:
    """`0.5:0.95:0.05` (from, to and including, by), `0.7,0.8` or `0.85`, ascending and without repeats.

    Raises:
        ConfigurationError: anything else.
    """
    try:
        values = [value for part in text.split(",") for value in _range([Decimal(word) for word in part.split(":")])]
    except (InvalidOperation, ValueError) as error:
        raise ConfigurationError(f"{option} {text!r}: write FROM:TO:STEP, or numbers with commas between") from error
    return tuple(sorted({float(value) for value in values}))


def _range(parts: Sequence[Decimal]) -> list[Decimal]:
    if len(parts) == 1:
        return [*parts]
    start, stop, step = parts
    if not start.is_finite() or not stop.is_finite() or not step > 0 or stop < start or (stop - start) / step > MOST:
        raise ValueError("no such range")
    return [start + step * n for n in range(int((stop - start) / step) + 1)]


def grid(
    present: Point,
    singles: Sequence[float],
    corroborated: Sequence[float],
    findings: Sequence[float],
    guards: list[str],
) -> tuple[Point, ...]:
    """The present setting, then every guard set without a floor and with every floor.

    A `corroborated` above `single` never speaks, so it is the same setting as one equal to it and is left out.

    Raises:
        ConfigurationError: a threshold is no fraction, or the grid is absurdly large.
    """
    if len(singles) * len(corroborated) * len(findings) * len(guards) > MOST:
        raise ConfigurationError(f"more than {MOST} points; take larger steps")
    try:
        floors = [
            ConfidenceFloor(single=single, corroborated=min(single, other), min_findings=int(count))
            for single in singles
            for other in corroborated
            for count in findings
        ]
    except ValidationError as error:
        first = error.errors()[0]
        raise ConfigurationError(f"confidence floor, {first['loc'][0]}: {first['msg']}") from error
    points = (Point(guards=name, floor=floor) for name in guards for floor in (None, *floors))
    return tuple(dict.fromkeys((present, *points)))


def point_of(variant: Variant) -> Point:
    """Where a variant stands now."""
    return Point(guards=variant.guards, floor=variant.confidence_floor)


def at(variant: Variant, point: Point) -> Variant:
    """The variant with the setting of `point`, named after both."""
    changed = {"guards": point.guards, "confidence_floor": point.floor, "name": f"{variant.name} {point.name}"}
    return variant.model_copy(update=changed)

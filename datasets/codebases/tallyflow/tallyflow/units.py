"""Units of measurement and the way from one to another.

Each unit belongs to a dimension and is tied to that dimension's base unit by `base = value * factor + offset`.
"""

from __future__ import annotations

from dataclasses import dataclass

from tallyflow.errors import UnitError


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit and its relation to the base unit of its dimension."""

    name: str
    dimension: str
    factor: float = 1.0
    offset: float = 0.0


UNITS: tuple[Unit, ...] = (
    Unit("kWh", "energy"),
    Unit("Wh", "energy", 1e-3),
    Unit("MWh", "energy", 1e3),
    Unit("GWh", "energy", 1e6),
    Unit("MJ", "energy", 1 / 3.6),
    Unit("GJ", "energy", 1e3 / 3.6),
    Unit("mWh", "energy", 1e-6),  # battery-powered sensors
    Unit("kW", "power"),
    Unit("W", "power", 1e-3),
    Unit("MW", "power", 1e3),
    Unit("mW", "power", 1e-6),
    Unit("m3", "volume"),
    Unit("l", "volume", 1e-3),
    Unit("degC", "temperature"),
    Unit("K", "temperature", 1.0, -273.15),
    Unit("degF", "temperature", 5 / 9, -160 / 9),
)
ALIASES: dict[str, str] = {
    "m³": "m3",
    "cbm": "m3",
    "liter": "l",
    "litre": "l",
    "°C": "degC",
    "C": "degC",
    "°F": "degF",
    "F": "degF",
}


class UnitTable:
    """Finds units by name or alias and converts between them."""

    def __init__(self, units: tuple[Unit, ...] = UNITS, aliases: dict[str, str] | None = None) -> None:
        self._exact = {unit.name: unit for unit in units}
        for alias, name in (ALIASES if aliases is None else aliases).items():
            self._exact[alias] = self._exact[name]
        self._folded: dict[str, set[Unit]] = {}
        for name, unit in self._exact.items():
            self._folded.setdefault(name.casefold(), set()).add(unit)

    def find(self, text: str) -> Unit:
        """The unit written as `text`; another case will do as long as only one unit can be meant. Raises UnitError."""
        name = text.strip()
        if name in self._exact:
            return self._exact[name]
        candidates = self._folded.get(name.casefold(), set())
        if len(candidates) == 1:
            return next(iter(candidates))
        if candidates:
            names = " or ".join(sorted(unit.name for unit in candidates))
            raise UnitError(f"unit {name!r} may be {names}; write it exactly")
        raise UnitError(f"unit {name!r} is not known; `tallyflow units` lists all")

    def convert(self, value: float, source: str, target: str) -> float:
        """`value` in another unit of the same dimension. Raises UnitError."""
        one, other = self._pair(source, target)
        if one == other:
            return value
        return (value * one.factor + one.offset - other.offset) / other.factor

    def scale(self, amount: float, source: str, target: str) -> float:
        """The same for a difference of two values: offsets cancel out. Raises UnitError."""
        one, other = self._pair(source, target)
        return amount if one == other else amount * one.factor / other.factor

    def _pair(self, source: str, target: str) -> tuple[Unit, Unit]:
        one, other = self.find(source), self.find(target)
        if one.dimension != other.dimension:
            raise UnitError(f"{one.name} is {one.dimension}, {other.name} is {other.dimension}: no conversion")
        return one, other


STANDARD = UnitTable()

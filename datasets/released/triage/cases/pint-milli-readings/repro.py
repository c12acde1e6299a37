"""A prefix before a scale that does not begin at nothing is refused: no reading is off by a whole offset in silence."""

import pint

registry = pint.UnitRegistry(cache_folder=None)
refused = 0
read: list[float] = []
for text in ("21500 millidegC", "21500 mdegC"):
    try:
        read.append(registry.Quantity(text).to("kelvin").magnitude)
    except Exception as error:
        refused += isinstance(error, pint.OffsetUnitCalculusError)

assert refused == 2 or all(abs(kelvin - 294.65) < 1e-6 for kelvin in read), read

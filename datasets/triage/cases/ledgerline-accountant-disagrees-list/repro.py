"""A rate is taken as it stands in the file, also of a currency whose unit is worth little."""

import tempfile
from datetime import date
from pathlib import Path

from ledgerline.money import Money
from ledgerline.rates import load_rates

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "rates.csv"
    path.write_text("date,currency,rate\n2026-07-01,KRW,0.000612\n", encoding="utf-8")
    rates = load_rates(path, "EUR")
value = str(rates.convert(Money.of(4_200_000, "KRW"), date(2026, 7, 8)))
assert value == "2570.40 EUR", value

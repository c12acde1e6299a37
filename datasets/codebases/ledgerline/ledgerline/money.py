"""Amounts of money: decimal, with a currency, never a float."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation

from ledgerline.errors import AmountError, CurrencyMismatchError

# Digits behind the decimal point where they are not two.
_MINOR_DIGITS = {"BHD": 3, "CLP": 0, "ISK": 0, "JPY": 0, "KRW": 0, "KWD": 3, "OMR": 3, "TND": 3, "VND": 0}
_SPACES = str.maketrans("", "", " \u00a0\u202f'\u2019")
_MINUS = str.maketrans({"\u2212": "-", "\u2013": "-"})


def minor_digits(currency: str) -> int:
    """How many digits behind the decimal point amounts of a currency have."""
    return _MINOR_DIGITS.get(currency, 2)


def smallest_unit(currency: str) -> Decimal:
    """A cent, or what stands in its place."""
    return Decimal(1).scaleb(-minor_digits(currency))


@dataclass(frozen=True)
class Money:
    """An amount of one currency. Always a whole number of the currency's smallest units."""

    amount: Decimal
    currency: str

    @classmethod
    def of(cls, amount: Decimal | int | str, currency: str) -> "Money":
        """An amount, rounded half to even to the smallest unit of its currency."""
        return cls(Decimal(amount).quantize(smallest_unit(currency), ROUND_HALF_EVEN), currency)

    def __add__(self, other: "Money") -> "Money":
        if self.currency != other.currency:
            raise CurrencyMismatchError(self.currency, other.currency)
        return Money(self.amount + other.amount, self.currency)

    def __neg__(self) -> "Money":
        return Money(-self.amount, self.currency)

    def __bool__(self) -> bool:
        return bool(self.amount)

    def __str__(self) -> str:
        return f"{self.amount:.{minor_digits(self.currency)}f} {self.currency}"

    def split(self, shares: Sequence[Decimal]) -> list["Money"]:
        """Parts in proportion to `shares` that add up to this amount exactly.

        Parts are cut towards zero; the smallest units left over go one by one to the first parts.
        """
        total, unit = sum(shares), smallest_unit(self.currency)
        parts = [(self.amount * share / total / unit).to_integral_value("ROUND_DOWN") * unit for share in shares]
        left = self.amount - sum(parts)
        step = unit.copy_sign(left)
        for index in range(int(left / step)):
            parts[index % len(parts)] += step
        return [Money.of(part, self.currency) for part in parts]


def parse_amount(text: str, decimal_mark: str = ".") -> Decimal:
    """The number in a text as banks write it: grouped thousands, a sign before or behind, any kind of minus.

    Raises AmountError.
    """
    grouping = "," if decimal_mark == "." else "."
    plain = text.strip().translate(_MINUS).translate(_SPACES).replace(grouping, "").replace(decimal_mark, ".")
    if plain.endswith(("-", "+")):
        plain = plain[-1] + plain[:-1]
    try:
        number = Decimal(plain)
    except InvalidOperation:
        raise AmountError(f"{text!r} is not an amount") from None
    if not number.is_finite():
        raise AmountError(f"{text!r} is not an amount")
    return number

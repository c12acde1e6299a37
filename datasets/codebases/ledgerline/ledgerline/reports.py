"""Reports: what the book says, as tables of text."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from ledgerline.balances import Balances
from ledgerline.entries import Transaction, is_within
from ledgerline.money import Money
from ledgerline.rates import RateTable

Row = tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """Rows of ready texts. All columns but the first stand to the right; the last row may be a sum."""

    head: Row
    rows: tuple[Row, ...]
    total: Row | None = None

    def render(self) -> str:
        """The table as text, one line per row, with a rule above the sum."""
        every = [self.head, *self.rows, *([self.total] if self.total else [])]
        widths = [max(len(row[index]) for row in every) for index in range(len(self.head))]
        lines = [_aligned(row, widths) for row in (self.head, *self.rows)]
        if self.total:
            lines += ["-" * len(_aligned(self.total, widths)), _aligned(self.total, widths)]
        return "\n".join(lines) + "\n"


def balance_table(balances: Balances, rates: RateTable, day: date) -> Table:
    """What accounts hold and what it is worth in the base currency on a day. Raises RateError."""
    rows: list[Row] = []
    worth = Money.of(0, rates.base)
    for account, money in balances.rows():
        value = rates.convert(money, day)
        rows.append((account, str(money), str(value)))
        if is_within(account, "Assets") or is_within(account, "Liabilities"):
            worth += value
    return Table(("account", "balance", "value"), tuple(rows), ("assets less liabilities", "", str(worth)))


def income_table(transactions: Iterable[Transaction], rates: RateTable) -> Table:
    """Income and expenses by account in the base currency, every booking at the rate of its day. Raises RateError.

    Money coming in is shown positive, contrary to the journal.
    """
    sums: defaultdict[str, Money] = defaultdict(lambda: Money.of(0, rates.base))
    for account, money, day in _movements(transactions, ("Income", "Expenses")):
        sums[account] += -rates.convert(money, day)
    rows = tuple((account, str(amount)) for account, amount in sorted(sums.items()))
    result = sum((amount.amount for amount in sums.values()), start=Money.of(0, rates.base).amount)
    return Table(("account", "amount"), rows, ("result", str(Money.of(result, rates.base))))


def register_table(transactions: Iterable[Transaction], account: str) -> Table:
    """One account booking by booking, with what it holds after each."""
    held: dict[str, Money] = {}
    rows: list[Row] = []
    for transaction in transactions:
        for posting in transaction.postings:
            if is_within(posting.account, account):
                currency = posting.money.currency
                held[currency] = held.get(currency, Money.of(0, currency)) + posting.money
                head = f"{transaction.day} {transaction.flag} {transaction.payee}"
                rows.append((head, str(posting.money), str(held[currency])))
    return Table((account, "amount", "balance"), tuple(rows))


def _movements(transactions: Iterable[Transaction], roots: Sequence[str]) -> Iterator[tuple[str, Money, date]]:
    for transaction in transactions:
        for posting in transaction.postings:
            if any(is_within(posting.account, root) for root in roots):
                yield posting.account, posting.money, transaction.day


def _aligned(row: Row, widths: Sequence[int]) -> str:
    first, *rest = row
    cells = [f"{first:<{widths[0]}}", *(f"{cell:>{width}}" for cell, width in zip(rest, widths[1:]))]
    return "  ".join(cells).rstrip()

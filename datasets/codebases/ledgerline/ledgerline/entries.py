"""What stands in the ledger: transactions of balanced postings."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

from ledgerline.errors import LedgerlineError, UnbalancedError
from ledgerline.money import Money

ROOTS = ("Assets", "Liabilities", "Equity", "Income", "Expenses")
CLEARED = "*"
UNSORTED = "!"


def check_account(name: str) -> str:
    """`name`, if it can be an account: a known root and at least one part below it. Raises LedgerlineError."""
    root, _, rest = name.partition(":")
    if root not in ROOTS or not rest or "  " in name or any(not part.strip() for part in rest.split(":")):
        raise LedgerlineError(f"{name!r} is not an account; it has to look like Expenses:Food")
    return name


@dataclass(frozen=True)
class Posting:
    """One side of a transaction."""

    account: str
    money: Money


@dataclass(frozen=True)
class Transaction:
    """One booking. Payee and memo are single lines; `id` is empty for what was written by hand."""

    day: date
    payee: str
    memo: str
    postings: tuple[Posting, ...]
    flag: str = CLEARED
    id: str = ""

    def __post_init__(self) -> None:
        left = {currency: amount for currency, amount in sums(self.postings).items() if amount}
        if left:
            rest = ", ".join(f"{amount} {currency}" for currency, amount in sorted(left.items()))
            raise UnbalancedError(f"{self.day} {self.payee}: the postings leave {rest}")

    @property
    def is_sorted(self) -> bool:
        """Whether somebody, or a rule, has said where it belongs."""
        return self.flag == CLEARED

    def with_id(self, identity: str) -> "Transaction":
        """The same booking under another id."""
        return replace(self, id=identity)


def is_within(account: str, parent: str) -> bool:
    """Whether `account` is `parent` or lies below it."""
    return account == parent or account.startswith(f"{parent}:")


def sums(postings: Iterable[Posting]) -> dict[str, Decimal]:
    """What postings add up to, by currency."""
    result: defaultdict[str, Decimal] = defaultdict(Decimal)
    for posting in postings:
        result[posting.money.currency] += posting.money.amount
    return dict(result)

"""Writing the journal: transactions as text a person can read, and `journal_reader` can read back.

2026-03-14 * Municipal works | Advance payment
    ; id: 5f0c6a1e9b7d
    Expenses:Energy                           84.00 EUR
    Assets:Bank:Giro                         -84.00 EUR
"""

from collections.abc import Iterable

from ledgerline.entries import Posting, Transaction

INDENT = "    "
ACCOUNT_WIDTH = 36
AMOUNT_WIDTH = 12
SEPARATOR = " | "


def format_journal(transactions: Iterable[Transaction]) -> str:
    """The text of a journal file, by day; bookings of one day keep their order."""
    ordered = sorted(transactions, key=lambda transaction: transaction.day)
    return "\n".join(format_transaction(transaction) for transaction in ordered)


def format_transaction(transaction: Transaction) -> str:
    """One booking: its head line, its id if it has one, its postings."""
    lines = [_head(transaction)]
    if transaction.id:
        lines.append(f"{INDENT}; id: {transaction.id}")
    lines += [_posting(posting) for posting in transaction.postings]
    return "\n".join(lines) + "\n"


def _head(transaction: Transaction) -> str:
    """Day, flag, payee and memo. A payee must not contain the separator, or the memo would begin there."""
    payee = transaction.payee.replace("|", "/") or "-"
    text = f"{payee}{SEPARATOR}{transaction.memo}" if transaction.memo else payee
    return f"{transaction.day.isoformat()} {transaction.flag} {text}"


def _posting(posting: Posting) -> str:
    """Account and amount, with at least two spaces between them: account names may contain single ones."""
    amount, currency = str(posting.money).split(" ")
    return f"{INDENT}{posting.account:<{ACCOUNT_WIDTH}}  {amount:>{AMOUNT_WIDTH}} {currency}"

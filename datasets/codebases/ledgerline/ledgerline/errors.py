"""Errors a user can do something about. The command line shows them as one line."""

from pathlib import Path


class LedgerlineError(Exception):
    """Root of the tree."""


class ConfigError(LedgerlineError):
    """The configuration or the rules cannot be used as they are."""


class AmountError(LedgerlineError):
    """A text is no amount of money."""


class CurrencyMismatchError(LedgerlineError):
    """Amounts of different currencies were to be added or compared."""

    def __init__(self, one: str, other: str) -> None:
        super().__init__(f"{one} and {other} cannot be added")


class UnbalancedError(LedgerlineError):
    """The postings of a transaction do not add up to nothing."""


class LocatedError(LedgerlineError):
    """Something is wrong in one line of one file."""

    def __init__(self, path: Path, line: int, message: str) -> None:
        super().__init__(f"{path}:{line}: {message}")
        self.path = path
        self.line = line


class StatementError(LocatedError):
    """A line of a bank statement cannot be read."""


class JournalError(LocatedError):
    """A line of a journal file cannot be read."""


class RateError(LedgerlineError):
    """An exchange rate is missing, or the file of rates cannot be read."""


class ClosedMonthError(LedgerlineError):
    """A closed month was to be changed."""


class ClosingError(LedgerlineError):
    """A month is not ready to be closed."""

"""Reading the journal back, strictly: a line that is not understood is an error, never skipped."""

import re
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from ledgerline.entries import CLEARED, UNSORTED, Posting, Transaction, check_account
from ledgerline.errors import AmountError, JournalError, LedgerlineError, UnbalancedError
from ledgerline.money import Money, parse_amount

_META = re.compile(r"^\s+;\s*(?P<key>\w+):\s*(?P<value>.*)$")
_POSTING = re.compile(r"^\s+(?P<account>\S.*?)\s{2,}(?P<amount>\S+) (?P<currency>[A-Z]{3})\s*$")


@dataclass
class _Draft:
    """A transaction while its lines are being read."""

    line: int
    day: date
    flag: str
    payee: str
    memo: str
    id: str = ""
    postings: list[Posting] = field(default_factory=list)


def read_journal(path: Path) -> list[Transaction]:
    """All transactions of a file in its order; none if it does not exist. Raises JournalError."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    return _Reader(path).read(text)


class _Reader:
    """Turns the lines of one file into transactions."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._done: list[Transaction] = []
        self._draft: _Draft | None = None

    def read(self, text: str) -> list[Transaction]:
        """The transactions of a whole file."""
        for number, line in enumerate(text.split("\n"), start=1):
            if not line.strip():
                self._finish()
            elif line[0].isspace():
                self._detail(number, line)
            else:
                self._finish()
                self._draft = self._head(number, line)
        self._finish()
        return self._done

    def _head(self, number: int, line: str) -> _Draft:
        day, _, rest = line.partition(" ")
        flag, _, text = rest.partition(" ")
        parsed = self._day(number, day)
        if flag not in (CLEARED, UNSORTED):
            raise JournalError(self._path, number, f"expected * or ! behind the date, found {flag!r}")
        payee, _, memo = text.partition(" | ")
        return _Draft(number, parsed, flag, payee, memo)

    def _day(self, number: int, text: str) -> date:
        try:
            return date.fromisoformat(text)
        except ValueError as error:
            raise JournalError(self._path, number, f"expected a date, found {text!r}") from error

    def _detail(self, number: int, line: str) -> None:
        if self._draft is None:
            raise JournalError(self._path, number, "a posting without a transaction above it")
        meta = _META.match(line)
        if meta is None:
            self._draft.postings.append(self._posting(number, line))
        elif meta["key"] == "id":
            self._draft.id = meta["value"].strip()
        else:
            raise JournalError(self._path, number, f"unknown key {meta['key']!r}")

    def _posting(self, number: int, line: str) -> Posting:
        found = _POSTING.match(line)
        if found is None:
            raise JournalError(self._path, number, "expected an account, two spaces and an amount with its currency")
        try:
            money = Money.of(parse_amount(found["amount"]), found["currency"])
            return Posting(check_account(found["account"]), money)
        except (AmountError, LedgerlineError) as error:
            raise JournalError(self._path, number, str(error)) from error

    def _finish(self) -> None:
        draft, self._draft = self._draft, None
        if draft is None:
            return
        postings = tuple(draft.postings)
        try:
            self._done.append(Transaction(draft.day, draft.payee, draft.memo, postings, draft.flag, draft.id))
        except UnbalancedError as error:
            raise JournalError(self._path, draft.line, str(error)) from error

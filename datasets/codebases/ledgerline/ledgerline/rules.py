"""Rules that say to which account a line of a statement belongs."""

import logging
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from ledgerline.config import read_toml
from ledgerline.entries import CLEARED, UNSORTED, Posting, check_account
from ledgerline.errors import AmountError, ConfigError, LedgerlineError
from ledgerline.money import parse_amount
from ledgerline.statements import StatementLine

log = logging.getLogger(__name__)

FIELDS = ("payee", "memo", "any")
KEYS = {"match", "field", "account", "split", "min", "max", "rename"}


@dataclass(frozen=True)
class Rule:
    """One rule: a pattern, perhaps a range of amounts, and the accounts with their shares."""

    pattern: re.Pattern[str]
    shares: Mapping[str, Decimal]
    field: str = "any"
    least: Decimal | None = None
    most: Decimal | None = None
    rename: str = ""

    def matches(self, line: StatementLine) -> bool:
        """Whether this rule has something to say about a line."""
        if self.least is not None and line.money.amount < self.least:
            return False
        if self.most is not None and line.money.amount > self.most:
            return False
        texts = (line.payee, line.memo) if self.field == "any" else (getattr(line, self.field),)
        return any(self.pattern.search(text) for text in texts)


@dataclass(frozen=True)
class Sorting:
    """What the rules decided about one line: the counter postings, the flag and the payee."""

    postings: tuple[Posting, ...]
    flag: str
    payee: str


class RuleBook:
    """The rules in their order; the first that matches decides."""

    def __init__(self, rules: Iterable[Rule], fallback: str) -> None:
        self._rules = tuple(rules)
        self._fallback = fallback

    def sort(self, line: StatementLine) -> Sorting:
        """Where a line belongs; to the fallback account, flagged, if no rule knows."""
        rule = next((rule for rule in self._rules if rule.matches(line)), None)
        if rule is None:
            log.info("no rule for %s %s %s", line.day, line.payee, line.money)
            return Sorting((Posting(self._fallback, -line.money),), UNSORTED, line.payee)
        parts = (-line.money).split(list(rule.shares.values()))
        postings = tuple(Posting(account, part) for account, part in zip(rule.shares, parts) if part)
        return Sorting(postings, CLEARED, rule.rename or line.payee)


def load_rules(path: Path, fallback: str) -> RuleBook:
    """The rules in a file; none if there is no such file. Raises ConfigError."""
    if not path.exists():
        log.warning("%s does not exist: everything goes to %s", path, fallback)
        return RuleBook((), fallback)
    rules = []
    for number, table in enumerate(read_toml(path).get("rule", []), start=1):
        try:
            rules.append(_rule(table))
        except (LedgerlineError, re.error, KeyError) as error:
            raise ConfigError(f"{path}: rule {number}: {error}") from error
    log.debug("%d rules from %s", len(rules), path)
    return RuleBook(rules, fallback)


def _rule(table: Mapping[str, Any]) -> Rule:
    unknown = set(table) - KEYS
    if unknown:
        raise ConfigError(f"unknown key {sorted(unknown)[0]!r}")
    where = table.get("field", "any")
    if where not in FIELDS:
        raise ConfigError(f"field must be one of {', '.join(FIELDS)}")
    return Rule(
        pattern=_pattern(table["match"]),
        shares=_shares(table),
        field=where,
        least=_limit(table.get("min")),
        most=_limit(table.get("max")),
        rename=table.get("rename", ""),
    )


def _pattern(text: str) -> re.Pattern[str]:
    """A rule's expression. Banks print names in capitals or not as they please, so case never counts."""
    return re.compile(text, re.IGNORECASE)


def _shares(table: Mapping[str, Any]) -> dict[str, Decimal]:
    """The accounts a rule books to, each with its share."""
    if ("account" in table) == ("split" in table):
        raise ConfigError("a rule needs either `account` or `split`")
    if "account" in table:
        return {check_account(table["account"]): Decimal(1)}
    shares = {check_account(account): Decimal(share) for account, share in table["split"].items()}
    if not shares or any(share <= 0 for share in shares.values()):
        raise ConfigError("the shares of `split` must be greater than zero")
    return shares


def _limit(raw: object) -> Decimal | None:
    """A bound of the range of amounts. Written as text, so that no digit is lost."""
    if raw is None:
        return None
    if isinstance(raw, (int, Decimal)):
        return Decimal(raw)
    if isinstance(raw, str):
        return parse_amount(raw)
    raise AmountError(f"{raw!r} is not an amount")

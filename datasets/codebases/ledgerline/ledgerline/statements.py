"""Reading bank statements: CSV as the banks write it, described by a profile."""

import csv
import io
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from pathlib import Path

from ledgerline.config import BankProfile
from ledgerline.errors import AmountError, StatementError
from ledgerline.money import Money, parse_amount

log = logging.getLogger(__name__)

TIMESTAMP = "timestamp"


@dataclass(frozen=True)
class StatementLine:
    """One movement as the bank tells it. Texts are single lines; money coming in is positive."""

    day: date
    money: Money
    payee: str
    memo: str
    reference: str
    number: int


def read_statement(path: Path, profile: BankProfile, zone: tzinfo | None = None) -> list[StatementLine]:
    """All movements of a statement, in the order of the file. Raises StatementError."""
    text = _decoded(path, profile)
    body = "".join(text.splitlines(keepends=True)[profile.skip_lines :])
    reader = csv.DictReader(io.StringIO(body, newline=""), delimiter=profile.delimiter)
    _check_columns(path, profile, reader.fieldnames or ())
    lines = list(_lines(path, profile, reader, zone))
    log.info("%s: %d lines", path.name, len(lines))
    return lines


def _decoded(path: Path, profile: BankProfile) -> str:
    try:
        return path.read_bytes().decode(profile.encoding)
    except OSError as error:
        raise StatementError(path, 1, f"cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, LookupError) as error:
        raise StatementError(path, 1, f"is not {profile.encoding} text; correct `encoding` of the bank") from error


def _check_columns(path: Path, profile: BankProfile, header: Sequence[str]) -> None:
    for role, column in profile.columns.items():
        if column not in header:
            raise StatementError(path, profile.skip_lines + 1, f"there is no column {column!r} (for {role})")


def _lines(
    path: Path, profile: BankProfile, reader: "csv.DictReader[str]", zone: tzinfo | None
) -> Iterator[StatementLine]:
    for row in reader:
        number = profile.skip_lines + reader.line_num
        if not _field(row, profile, "date"):
            log.debug("%s:%d: no date, skipped", path.name, number)
            continue
        try:
            yield _line(row, profile, zone, number)
        except (AmountError, ValueError) as error:
            raise StatementError(path, number, str(error)) from error


def _line(row: Mapping[str, str | None], profile: BankProfile, zone: tzinfo | None, number: int) -> StatementLine:
    currency = _field(row, profile, "currency") or profile.currency
    amount = parse_amount(_field(row, profile, "amount"), profile.decimal)
    return StatementLine(
        day=_day(_field(row, profile, "date"), profile.dates, zone),
        money=Money.of(amount, currency),
        payee=_field(row, profile, "payee"),
        memo=_field(row, profile, "memo"),
        reference=_field(row, profile, "reference"),
        number=number,
    )


def _field(row: Mapping[str, str | None], profile: BankProfile, role: str) -> str:
    """The text of a column on one line, with single spaces; empty where the bank has no such column."""
    column = profile.columns.get(role)
    raw = row.get(column) if column else None
    return " ".join((raw or "").split())


def _day(text: str, dates: str, zone: tzinfo | None) -> date:
    """The day of a movement. A timestamp that names its offset is moved to `zone` first."""
    if dates != TIMESTAMP:
        return datetime.strptime(text, dates).date()
    moment = datetime.fromisoformat(text)
    return moment.date() if moment.tzinfo is None else moment.astimezone(zone).date()

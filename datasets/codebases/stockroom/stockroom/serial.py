"""Between JSON and values: quantities, timestamps and the documents the API answers with."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from stockroom.errors import ValidationError
from stockroom.models import Item, Level, Movement, Reservation

QUANTUM = 1000
MAX_QUANTITY = 10**12
EXPORT_COLUMNS = ("sku", "name", "unit", "created_at")


def parse_quantity(raw: object) -> int:
    """A quantity of the API, as text or number with at most three decimals, in thousandths."""
    if isinstance(raw, bool) or not isinstance(raw, (str, int, float)):
        raise ValidationError("quantity must be a number or a decimal string")
    try:
        scaled = Decimal(str(raw)) * QUANTUM
    except InvalidOperation:
        raise ValidationError(f"quantity is not a number: {raw!r}") from None
    if not scaled.is_finite() or scaled != scaled.to_integral_value():
        raise ValidationError("quantity may have at most three decimals")
    if abs(scaled) > MAX_QUANTITY:
        raise ValidationError("quantity is out of range")
    return int(scaled)


def format_quantity(thousandths: int) -> str:
    """Thousandths as the API shows them, always with three decimals."""
    sign = "-" if thousandths < 0 else ""
    whole, rest = divmod(abs(thousandths), QUANTUM)
    return f"{sign}{whole}.{rest:03d}"


def format_time(moment: datetime) -> str:
    """A timestamp in UTC, to the second."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_time(text: str) -> datetime:
    """The inverse of `format_time`."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)


def text_field(document: Mapping[str, Any], name: str, maximum: int = 200) -> str:
    """A required, non-empty text of a JSON document."""
    value = document.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ValidationError(f"{name} is required")
    if len(value) > maximum:
        raise ValidationError(f"{name} is longer than {maximum} characters")
    return value.strip()


def item_document(item: Item) -> dict[str, Any]:
    """An item as the API shows it; the account never appears."""
    return {"sku": item.sku, "name": item.name, "unit": item.unit, "created_at": format_time(item.created_at)}


def level_document(level: Level) -> dict[str, str]:
    """A level as the API shows it."""
    return {
        "location": level.location,
        "quantity": format_quantity(level.quantity),
        "reserved": format_quantity(level.reserved),
        "available": format_quantity(level.available),
    }


def movement_document(movement: Movement) -> dict[str, Any]:
    """A movement as the API shows it."""
    return {
        "id": movement.id,
        "location": movement.location,
        "delta": format_quantity(movement.delta),
        "reason": movement.reason,
        "actor": movement.actor,
        "at": format_time(movement.at),
    }


def reservation_document(reservation: Reservation) -> dict[str, str]:
    """A reservation as the API shows it."""
    return {
        "id": reservation.id,
        "quantity": format_quantity(reservation.quantity),
        "expires_at": format_time(reservation.expires_at),
    }


def csv_lines(items: Iterable[Item]) -> Iterable[str]:
    """The catalogue as CSV lines without line ends, header first."""
    yield ",".join(EXPORT_COLUMNS)
    for item in items:
        document = item_document(item)
        buffer = io.StringIO()
        csv.writer(buffer, lineterminator="").writerow([document[column] for column in EXPORT_COLUMNS])
        yield buffer.getvalue()

"""The rows of the inventory as values. Quantities are whole thousandths of the item's unit."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Item:
    """Something that can be in stock."""

    id: int
    account: str
    sku: str
    name: str
    unit: str
    created_at: datetime


@dataclass(frozen=True)
class Location:
    """A place that holds stock; `capacity` is None where nobody counts."""

    id: int
    account: str
    code: str
    capacity: int | None


@dataclass(frozen=True)
class Level:
    """How much of an item lies at a location, and how much of that is promised."""

    location: str
    quantity: int
    reserved: int

    @property
    def available(self) -> int:
        """What can still be promised or taken."""
        return self.quantity - self.reserved


@dataclass(frozen=True)
class Movement:
    """One booked change of a level."""

    id: int
    location: str
    delta: int
    reason: str
    actor: str
    at: datetime


@dataclass(frozen=True)
class Reservation:
    """A promise of stock until `expires_at`."""

    id: str
    item_id: int
    location_id: int
    quantity: int
    expires_at: datetime

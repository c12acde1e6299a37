"""Five-field cron expressions and when they fire next."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from taskmill.errors import CronSyntaxError

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_MACROS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
}
_HORIZON = timedelta(days=366 * 8)  # eight years cover every 29 February


@dataclass(frozen=True)
class _Field:
    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()

    def value(self, token: str) -> int:
        """A number or a name."""
        if token.lower() in self.names:
            return self.low + self.names.index(token.lower())
        if not token.isdigit() or not self.low <= int(token) <= self.high:
            raise CronSyntaxError(f"{token!r} is not a {self.name} ({self.low}-{self.high})")
        return int(token)

    def expand(self, text: str) -> frozenset[int]:
        """All values of a comma-separated field."""
        found: set[int] = set()
        for part in text.split(","):
            found.update(self._expand_part(part))
        return frozenset(found)

    def _expand_part(self, part: str) -> range:
        body, slash, step_text = part.partition("/")
        if slash and (not step_text.isdigit() or int(step_text) == 0):
            raise CronSyntaxError(f"bad step in {part!r}")
        step = int(step_text) if slash else 1
        if body == "*":
            return range(self.low, self.high + 1, step)
        first_text, dash, last_text = body.partition("-")
        first = self.value(first_text)
        last = self.value(last_text) if dash else (self.high if slash else first)
        if last < first:
            raise CronSyntaxError(f"{part!r} runs backwards")
        return range(first, last + 1, step)


_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of month", 1, 31),
    _Field("month", 1, 12, _MONTHS),
    _Field("day of week", 0, 7, _DAYS),
)


def _first_of_next_month(moment: datetime) -> datetime:
    year, month = (moment.year + 1, 1) if moment.month == 12 else (moment.year, moment.month + 1)
    return moment.replace(year=year, month=month, day=1, hour=0, minute=0)


@dataclass(frozen=True)
class CronSchedule:
    """A parsed expression.

    When both day fields are restricted, a day matches if either does; when one of them starts with `*`, both
    have to match.
    """

    expression: str
    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    either_day: bool

    @classmethod
    def parse(cls, expression: str) -> "CronSchedule":
        """Read an expression or a macro such as `@daily`. Raises CronSyntaxError."""
        parts = _MACROS.get(expression.strip(), expression).split()
        if len(parts) != len(_FIELDS):
            raise CronSyntaxError(f"{expression!r} has {len(parts)} fields, expected {len(_FIELDS)}")
        minutes, hours, days, months, weekdays = (
            field.expand(part) for field, part in zip(_FIELDS, parts, strict=True)
        )
        return cls(
            expression=expression,
            minutes=minutes,
            hours=hours,
            days=days,
            months=months,
            weekdays=frozenset(day % 7 for day in weekdays),
            either_day=not parts[2].startswith("*") and not parts[4].startswith("*"),
        )

    def _day_matches(self, moment: datetime) -> bool:
        in_month = moment.day in self.days
        in_week = moment.isoweekday() % 7 in self.weekdays
        return in_month or in_week if self.either_day else in_month and in_week

    def next_after(self, moment: datetime) -> datetime:
        """The first matching minute after `moment`, in the zone of `moment`.

        Raises CronSyntaxError for an expression that never fires, such as 30 February.
        """
        candidate = moment.replace(second=0, microsecond=0) + timedelta(minutes=1)
        limit = candidate + _HORIZON
        while candidate <= limit:
            if candidate.month not in self.months:
                candidate = _first_of_next_month(candidate)
            elif not self._day_matches(candidate):
                candidate = candidate.replace(hour=0, minute=0) + timedelta(days=1)
            elif candidate.hour not in self.hours:
                candidate = candidate.replace(minute=0) + timedelta(hours=1)
            elif candidate.minute not in self.minutes:
                candidate += timedelta(minutes=1)
            else:
                return candidate
        raise CronSyntaxError(f"{self.expression!r} never fires")

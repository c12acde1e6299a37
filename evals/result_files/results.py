"""What is read of a result file: one entry per case, variant and repeat, whatever tool wrote it."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from evals.errors import ConfigurationError

PASS: Final = "pass"  # noqa: S105 - no password
"""The metric for the tool's own verdict on a case: 1 if all its checks passed, else 0."""
LONGEST: Final = 40
"""Characters of a case's text that its name has, where the tool does not name it."""


@dataclass(frozen=True)
class Result:
    """One answer with its values: metric -> value. `error` says why there are none; `identity` tells cases of one name
    apart, and is the text where the tool has no other. `sample` is None where the tool does not number repeats."""

    case: str
    variant: str
    values: dict[str, float] = field(default_factory=dict)
    sample: int | None = None
    text: str = ""
    expected: str = ""
    output: str = ""
    error: str = ""
    identity: str = ""

    @property
    def key(self) -> str:
        """What is the same for the same case, and for no other."""
        return self.identity or self.text


@dataclass(frozen=True)
class Results:
    """The results of a file, in its order, with repeats numbered from 0 and cases named apart."""

    tool: str
    results: tuple[Result, ...]

    @classmethod
    def of(cls, tool: str, found: Iterable[Result]) -> "Results":
        """The results of a file.

        Raises:
            ConfigurationError: there are none, or a repeat is there twice.
        """
        rows = list(found)
        if not any(row.values for row in rows):
            raise ConfigurationError(f"holds no values ({tool}); is it the right file?")
        keys: dict[str, set[str]] = {}
        for row in rows:
            keys.setdefault(row.case, set()).add(row.key)
        repeats: Counter[tuple[str, str]] = Counter()
        named = []
        for row in rows:
            case = row.case if len(keys[row.case]) == 1 else f"{row.case} #{_digest(row.key)}"
            number = row.sample
            if number is None:
                number, repeats[case, row.variant] = repeats[case, row.variant], repeats[case, row.variant] + 1
            named.append(replace(row, case=case, sample=number))
        often = Counter((row.case, row.variant, row.sample) for row in named)
        if twice := [where for where, times in often.items() if times > 1]:
            case, variant, number = twice[0]
            raise ConfigurationError(f"repeat {number} of {case} under {variant} is there more than once")
        return cls(tool, tuple(named))

    @property
    def variants(self) -> Sequence[str]:
        """Their names, in order of the file."""
        return list(dict.fromkeys(result.variant for result in self.results))

    @property
    def metrics(self) -> dict[str, tuple[float, float]]:
        """Metric -> its lowest and highest value."""
        found: dict[str, tuple[float, float]] = {}
        for name, value in (item for result in self.results for item in result.values.items()):
            low, high = found.get(name, (value, value))
            found[name] = min(low, value), max(high, value)
        return found


def case_name(text: str, name: object = None) -> str:
    """The name that the tool gives a case, else the beginning of its text."""
    plain = " ".join(text.split())
    return str(name or "") or (plain if len(plain) <= LONGEST else f"{plain[:LONGEST]} #{_digest(plain)}") or "case"


def digest_of_case(result: Result) -> str:
    """Of the case's text and expected answer, so that a changed case is seen; empty where the file has neither."""
    return _digest(f"{result.text}\n{result.expected}") if result.text or result.expected else ""


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:6]


def as_number(value: object) -> float | None:
    """A number, a truth value, or the text of one; None for anything else."""
    if isinstance(value, str):
        value = {"true": 1, "false": 0}.get(value.strip().lower(), value)
    try:
        found = float(value)  # type: ignore[arg-type]  # what does not fit is None
    except (TypeError, ValueError):
        return None
    return found if abs(found) < float("inf") else None

"""Frozen clock and seeded random numbers for targets.

The clock is the process's, so all trials side by side have the same one. Random numbers are the trial's own: `random`,
`os.urandom` and so `uuid.uuid4` give the same numbers in every run of a trial. `random.SystemRandom`, `secrets` and
numpy are not seeded, and tasks that run side by side within one trial draw in the order they happen to run.
"""

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from threading import Lock
from types import ModuleType
from typing import Any, Final

import time_machine

from evals.errors import ConfigurationError

_FUNCTIONS: Final = (
    "random",
    "uniform",
    "randint",
    "randrange",
    "choice",
    "choices",
    "shuffle",
    "sample",
    "gauss",
    "normalvariate",
    "expovariate",
    "betavariate",
    "triangular",
    "getrandbits",
    "randbytes",
)
_numbers: Final[ContextVar[random.Random | None]] = ContextVar("_numbers", default=None)
_lock: Final = Lock()
_hooked: Final[dict[tuple[ModuleType, str], Any]] = {}
_depth = 0


def parse_clock(text: str | datetime) -> datetime:
    """The time of a suite's `clock:`. Raises ConfigurationError for one without a time zone, or no time at all."""
    try:
        moment = text if isinstance(text, datetime) else datetime.fromisoformat(text)
    except ValueError:
        raise ConfigurationError(f"clock: {text!r} is no time; write it as 2026-01-05T09:00:00Z") from None
    if moment.tzinfo is None:
        raise ConfigurationError(f"clock: {moment.isoformat()} has no time zone; write it as 2026-01-05T09:00:00Z")
    return moment


@contextmanager
def frozen_clock(moment: str | datetime | None) -> Iterator[None]:
    """The time of day stands still inside the block; None leaves it as it is. Raises ConfigurationError."""
    if moment is None:
        yield
        return
    with time_machine.travel(parse_clock(moment), tick=False):
        yield


def real_now() -> datetime:
    """The time of day in UTC, also while the clock is frozen: a recording says when it was really made."""
    if time_machine.escape_hatch.is_travelling():
        return time_machine.escape_hatch.datetime.datetime.now(UTC)
    return datetime.now(UTC)


@contextmanager
def seeded(seed: str | int) -> Iterator[None]:
    """Random numbers of the current trial start from `seed`, in this task or thread and those started from it."""
    with _seedable():
        token = _numbers.set(random.Random(str(seed)))  # noqa: S311 - to be repeated, not to be secret
        try:
            yield
        finally:
            _numbers.reset(token)


@contextmanager
def _seedable() -> Iterator[None]:
    """Hooks for as long as any trial needs them. A name that a target has imported by itself keeps its hook, which
    leads to the original once no trial is running."""
    global _depth  # noqa: PLW0603 - hooks of a process
    with _lock:
        _depth += 1
        if _depth == 1:
            for name in _FUNCTIONS:
                _hook(random, name, name)
            _hook(os, "urandom", "randbytes")
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            while _depth == 0 and _hooked:
                (module, name), original = _hooked.popitem()
                setattr(module, name, original)


def _hook(module: ModuleType, name: str, method: str) -> None:
    original = getattr(module, name)

    def drawn(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - any function of `random`
        numbers = _numbers.get()
        return original(*args, **kwargs) if numbers is None else getattr(numbers, method)(*args, **kwargs)

    _hooked[module, name] = original
    setattr(module, name, drawn)

"""Frozen clock and seeded random numbers for targets.

The clock is the process's, so all trials side by side have the same one. Random numbers are the trial's own: `random`,
`os.urandom`, `secrets` and so `uuid.uuid4` and numpy's new generators give each module the same numbers in every run of
a trial. `uuid.uuid1` and `numpy.random.rand` are not seeded; tasks side by side draw in the order they happen to run.
"""

import inspect
import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
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
_DRAW_FOR_OTHERS: Final = frozenset({"uuid", "random", "secrets", "tempfile", __name__})


class _Numbers:
    """Random numbers of a trial, a sequence for each module that draws: what a library draws when it is first imported
    leaves the numbers of the target as they are."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._of_modules: dict[str, random.Random] = {}

    def of_caller(self) -> random.Random:
        """The numbers of the module that draws, by itself or through the standard library."""
        frame = inspect.currentframe()
        while frame is not None and frame.f_globals.get("__name__") in _DRAW_FOR_OTHERS:
            frame = frame.f_back
        name = str(frame.f_globals.get("__name__")) if frame is not None else ""
        return self._of_modules.setdefault(name, random.Random(f"{self._seed} {name}"))  # noqa: S311 - to be repeated, not to be secret


_numbers: Final[ContextVar[_Numbers | None]] = ContextVar("_numbers", default=None)
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


@contextmanager
def seeded(seed: str | int) -> Iterator[None]:
    """Random numbers of the current trial start from `seed`, in this task or thread and those started from it."""
    with _seedable():
        token = _numbers.set(_Numbers(str(seed)))
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
            _hook(random, "_urandom", "randbytes")  # of SystemRandom, and so of `secrets`
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
        return original(*args, **kwargs) if numbers is None else getattr(numbers.of_caller(), method)(*args, **kwargs)

    _hooked[module, name] = original
    setattr(module, name, drawn)

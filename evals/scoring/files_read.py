"""Files that scorers of a project open for reading, while they are loaded and while they score."""

import importlib.util
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, Final

from evals.scoring.scorer import NOT_OWN

LOADED: Final[set[str]] = set()
SCORED: Final[set[str]] = set()
_noted: ContextVar[set[str] | None] = ContextVar("files_read", default=None)
_SKIPPED: Final = (*NOT_OWN, Path("/proc"), Path("/sys"))


@contextmanager
def noted(found: set[str], *, own: bool) -> Iterator[None]:
    """Add the absolute path of every file that the block opens for reading, modules and bytecode included; without
    scorers of a project's `own`, nothing."""
    if own:
        _hook()
    token = _noted.set(found)
    try:
        yield
    finally:
        _noted.reset(token)


def own_files(paths: Iterable[str]) -> list[Path]:
    """Those of a project, sorted; bytecode as its source."""
    found = set()
    for name in paths:
        path = Path(name)
        with suppress(ValueError):  # no bytecode
            path = Path(importlib.util.source_from_cache(name))
        if (path.is_file() or not path.exists()) and not any(path.is_relative_to(each) for each in _SKIPPED):
            found.add(path)
    return sorted(found)


@cache
def _hook() -> None:
    """An audit hook stays as long as the process, so that there is one, and only where a project has scorers."""
    sys.addaudithook(_note)


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and (found := _noted.get()) is not None:
        path, _, flags = arguments
        if isinstance(path, str | bytes | os.PathLike) and not flags & (os.O_WRONLY | os.O_RDWR):
            found.add(os.path.abspath(os.fsdecode(path)))  # noqa: PTH100 - links stay

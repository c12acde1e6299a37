"""Standard output, and how paths are written on it."""

import sys
from pathlib import Path
from typing import Final

from rich.console import Console

WIDTH: Final = 120  # of a log file, which has no width of its own


def wide_console() -> Console:
    """Standard output as wide as the terminal, or as a log file should be."""
    return Console(soft_wrap=True, highlight=False, width=None if sys.stdout.isatty() else WIDTH)


def place_of(path: Path, root: Path) -> str:
    """A path as short as the checkout allows."""
    full = path.resolve()
    return full.relative_to(root).as_posix() if full.is_relative_to(root) else str(path)

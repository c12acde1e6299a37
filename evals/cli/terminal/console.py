"""Standard output, and how paths are written on it."""

import sys
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from evals.report.inert import visible

WIDTH: Final = 120  # of a log file, which has no width of its own


class VisibleConsole(Console):
    """Shows what would act unseen: names and texts from issues, suites and models may hold escapes of terminals."""

    def render_str(self, text: str, **options: Any) -> Text:  # noqa: ANN401 - as rich has them
        """Every string that is printed, and every cell of a table, comes by here; a `Text` does not."""
        return super().render_str(visible(text), **options)


def wide_console() -> Console:
    """Standard output as wide as the terminal, or as a log file should be."""
    return VisibleConsole(soft_wrap=True, highlight=False, width=None if sys.stdout.isatty() else WIDTH)


def terminal_console() -> Console:
    """Standard output in lines that fit the terminal, or a log file."""
    return VisibleConsole(highlight=False, width=None if sys.stdout.isatty() else WIDTH)


def place_of(path: Path, root: Path) -> str:
    """A path as short as the checkout allows."""
    full = path.resolve()
    return full.relative_to(root).as_posix() if full.is_relative_to(root) else str(path)

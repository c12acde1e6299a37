"""GitHub annotations on changed prompt lines."""

from collections.abc import Iterable, Sequence
from typing import Final

from evals.models.run import Run
from evals.prompt_history import Stretch
from evals.shared.visible_text import visible

LEVEL: Final = {"not worse": "notice", "worse": "error", "cannot judge": "warning", "changed": "warning"}
MOST: Final = 10
"""GitHub shows ten annotations of a level per step."""


def annotations(run: Run, changes: Sequence[Stretch]) -> Iterable[str]:
    """One command for each stretch of changed lines; what is past GitHub's limit is counted in the last."""
    verdict = run.verdict
    for number, (path, first, last) in enumerate(changes[:MOST], start=1):
        left = len(changes) - MOST if number == MOST else 0
        more = f" ({left} more changed places)" if left > 0 else ""
        place = f"file={_property(path)},line={first},endLine={last}"
        yield f"::{LEVEL[verdict.status]} {place},title={_property(verdict.status)}::{_data(verdict.sentence + more)}"


def _data(text: str) -> str:
    """The text on one line: a line end would begin another command."""
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

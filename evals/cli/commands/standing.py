"""What `cassette status` and `cassette prune` start with: the trials of several suites, replayed offline."""

from collections.abc import Sequence
from pathlib import Path

from evals.cli.commands.execute import replay
from evals.cli.commands.selection import Options, selected
from evals.models.trace import Trace


def replayed(suites: Sequence[str], root: Path, *, jobs: int) -> list[tuple[str, tuple[Trace, ...]]]:
    """Every suite's name with its traces; unchanged trials are reused. A copy of a suite may still bear its name.

    Raises:
        CannotJudgeError: a suite selects no case.
    """
    chosen = [selected(name, root, Options()) for name in suites]
    return [(each.suite.name, replay(each, jobs=jobs, fresh=False).traces) for each in chosen]

"""When a case turned: a row per variant and endpoint."""

from collections.abc import Sequence

from evals.models.history import History, Turn
from evals.report.numbers import percent
from evals.report.view.history import counted
from evals.report.view.table import Table


def turn_table(history: History, turns: Sequence[Turn], case: str) -> Table:
    """The commit that did it, whose it is, and what else changed there."""
    return Table(
        f"When {case} turned, over {counted(len(history.line))} of {history.suite}",
        ("variant", "endpoint", "now", "before", "turned in", "changed there", "turns"),
        tuple(
            (
                turn.variant,
                turn.endpoint,
                percent(turn.now),
                "the same" if turn.was is None else percent(turn.was),
                _commit(turn),
                ", ".join(mark.text for mark in turn.marks) or ("nothing else" if turn.commit else ""),
                str(turn.flips),
            )
            for turn in turns
        ),
    )


def _commit(turn: Turn) -> str:
    if turn.commit is None:
        return "never, as far as baselines tell"
    return f"{turn.commit[:7]}, {turn.date}, {turn.author}: {turn.subject}"

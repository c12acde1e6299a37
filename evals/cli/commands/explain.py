"""`evals explain`: one trial, or two side by side, on one screen."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from evals.cli.terminal.console import terminal_console
from evals.cli.terminal.explained import say_explained
from evals.errors import EXIT_OK
from evals.judging.divergence import diverge
from evals.models.trace import Trace
from evals.pipeline.explain import explain as explained
from evals.report.inert import visible
from evals.report.view.explain import explanation, wanted


def explain(case: str, variants: Sequence[str], suite: str, root: Path, console: Console | None = None) -> int:
    """Print the case's trial under each variant. Returns 0.

    Raises:
        ConfigurationError: the suite has no such case or variant.
        CannotJudgeError: the case is held out.
    """
    console = console or terminal_console()
    found = explained(case, variants, suite, root)
    console.print(Text(visible(f"{found.case.id} (suite {found.suite}): {found.case.title}"), style="bold"))
    say_explained(console, wanted(found.case), [explanation(trial, found.case) for trial in found.trials])
    if len(found.trials) == 2:
        console.print(_parted(*(trial.trace for trial in found.trials)), markup=False)
    return EXIT_OK


def _parted(was: Trace, now: Trace) -> str:
    """Where the second leaves the way of the first."""
    parted = diverge(was, now)
    if parted is None:
        return f"{now.variant} goes the way of {was.variant}, as far as both are on the tape."
    return f"{now.variant} leaves the way of {was.variant} at decision {parted.decision + 1}: {parted.what}."

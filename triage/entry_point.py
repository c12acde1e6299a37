"""Entry point of the `triage` command."""

from evals.shared.command_lifecycle import Main, Start
from triage.errors import INTERRUPTED


def run() -> None:
    """The console script: runs a command and exits with its code, never with a traceback."""
    Start("triage", INTERRUPTED).run(_load)


def _load() -> Main:
    from triage.cli import main  # noqa: PLC0415 - armed before

    return main

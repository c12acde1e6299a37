"""`triage check`: whether a job would get an answer, asked before one is begun."""

import asyncio
import os
from typing import Annotated

import typer

from triage.errors import EXIT_OK, EXIT_OUTAGE
from triage.terminal import put, say


def check_command(
    model: Annotated[
        str | None, typer.Option(help="One model for all agents; otherwise TRIAGE_MODELS and defaults.")
    ] = None,
) -> int:
    """Ask every model for one structured answer, the search for one page, and every service for its health.

    One line each; it ends with 3 if any of them fails. It costs a few dozen tokens for each model.
    """
    from triage.live import settings_from_environment
    from triage.probe import probed
    from triage.settings import unknown_variables

    for line in unknown_variables(os.environ):
        say(f"triage: {line}", "yellow")
    results = asyncio.run(probed(settings_from_environment(model)))
    for result in results:
        put(f"{'ok' if result.good else 'FAILED':<7}{result.text}")
    return EXIT_OK if all(result.good for result in results) else EXIT_OUTAGE

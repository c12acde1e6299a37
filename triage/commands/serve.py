"""`triage serve`: the agents as a service."""

import asyncio
import os
from pathlib import Path
from typing import Annotated

import typer

from triage.errors import EXIT_OK
from triage.terminal import Terminal, say


def serve_command(
    repo: Annotated[Path, typer.Option(help="A checkout of the repository the issues are about.")],
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 8100,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="A further host name by which the service may be asked; may be repeated."),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="One model for all agents; otherwise TRIAGE_MODELS and defaults.")
    ] = None,
) -> int:
    """Run the agents as a service: POST /agents/NAME/invoke, GET /health.

    Off loopback it asks for the bearer token in TRIAGE_SERVICE_TOKEN, and does not start without one.
    """
    from triage.session import serve
    from triage.settings import unknown_variables

    for line in unknown_variables(os.environ):
        say(f"triage: {line}", "yellow")
    asyncio.run(serve(repo.resolve(), host, port, allow_host or (), model, Terminal()))
    return EXIT_OK

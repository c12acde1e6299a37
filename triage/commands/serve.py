"""`triage serve`: the agents as a service."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from triage.errors import EXIT_OK
from triage.terminal import Terminal


def serve_command(
    repo: Annotated[Path, typer.Option(help="A checkout of the repository the issues are about.")],
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 8100,
    model: Annotated[
        str | None, typer.Option(help="One model for all agents; otherwise TRIAGE_MODELS and defaults.")
    ] = None,
) -> int:
    """Run the agents as a service: POST /agents/NAME/invoke, GET /health."""
    from triage.session import serve

    asyncio.run(serve(repo.resolve(), host, port, model, Terminal()))
    return EXIT_OK

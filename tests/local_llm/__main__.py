"""`python -m tests.local_llm fetch|serve|start|stop|status`."""

import os
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from evals.errors import EvalsError
from evals.recording.endpoint import DEFAULT_PORT, HOST, is_healthy
from tests.local_llm import llm_server as server
from tests.local_llm import weights
from tests.local_llm.llm_server import Process

_CACHE: Final = Path(".cache")
_STORE: Final = _CACHE / "models"

app = typer.Typer(help=__doc__, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)

Model = Annotated[str, typer.Option(help=f"One of {', '.join(weights.KNOWN)}, or the path of a GGUF file.")]
Port = Annotated[int, typer.Option(help="The loopback port to listen on.")]
Template = Annotated[Path | None, typer.Option(help="A Jinja chat template instead of the model's.", exists=True)]


def _say(line: str) -> None:
    typer.echo(line)
    sys.stdout.flush()


def _serving(model: str, port: int, template: Path | None) -> server.Serving:
    """Known models speak ChatML and get our template; a file of your own keeps the one it carries."""
    known = weights.weights_of(model)
    if known is None:
        own = template.read_text(encoding="utf-8") if template else ""
        return server.Serving(Path(model), Path(model).stem, port, own)
    text = (template or server.CHATML).read_text(encoding="utf-8")
    return server.Serving(weights.fetch(known, _STORE, _say), known.alias, port, text)


@app.command()
def fetch(model: Model = "0.5b") -> None:
    """Download a model in parts, join and check it; nothing happens when it is there."""
    known = weights.weights_of(model)
    if known is not None:
        weights.fetch(known, _STORE, _say)


@app.command()
def serve(model: Model = "0.5b", port: Port = DEFAULT_PORT, template: Template = None) -> None:
    """Serve in the foreground until interrupted."""
    server.serve(_serving(model, port, template), _say, os.getpid())


@app.command()
def start(model: Model = "0.5b", port: Port = DEFAULT_PORT, template: Template = None) -> None:
    """Serve in the background, and return once it is ready."""
    serving = _serving(model, port, template)
    process = Process(_CACHE / "local-llm")
    chosen = ["--template", str(template)] if template else []
    pid = process.start(["--model", model, "--port", str(port), *chosen], serving.url)
    _say(f"ready: {serving.alias} at {serving.url}/v1, pid {pid}, log {process.log}")


@app.command()
def stop() -> None:
    """End the server that `start` started."""
    pid = Process(_CACHE / "local-llm").stop()
    _say("nothing was running" if pid is None else f"stopped pid {pid}")


@app.command()
def status(port: Port = DEFAULT_PORT) -> None:
    """Say whether a server answers, and which process it is; exit code 3 if none does."""
    pid = Process(_CACHE / "local-llm").pid()
    healthy = is_healthy(f"http://{HOST}:{port}")
    _say(f"port {port}: {'answers' if healthy else 'no answer'}; pid {pid or 'none of ours'}")
    if not healthy:
        raise typer.Exit(3)


def run() -> None:
    """The verbs, with every error of ours as one line."""
    try:
        app()
    except EvalsError as error:
        typer.echo(f"local-llm: {error}", err=True)
        raise SystemExit(error.exit_code) from error


if __name__ == "__main__":
    run()

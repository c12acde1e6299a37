"""`evals view`: open a report in a browser, or serve it on this machine where no browser is."""

import os
import sys
import webbrowser
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Annotated, Final

import typer

from evals.cli.options import given
from evals.errors import EXIT_OK, ConfigurationError

LOOPBACK: Final = "127.0.0.1"
viewing = typer.Typer()


@viewing.command("view")
def view_command(
    context: typer.Context,
    report: Annotated[
        Path | None, typer.Argument(help="The folder of a report, or a file in it; reports/latest if not given.")
    ] = None,
) -> int:
    """Open a report in the browser. Without a browser, serve it to this machine only, until Ctrl-C (exit code 0)."""
    run = given(context).stored(report)
    folder = run if run.is_dir() or not run.suffix else run.parent
    page = folder / "index.html"
    if not page.is_file():
        raise ConfigurationError(f"{page}: no report there; `evals run SUITE` writes one")
    if _has_browser() and webbrowser.open(page.resolve().as_uri()):
        print(f"Opened {page} in a browser.")
    else:
        serve(page)
    return EXIT_OK


def _has_browser() -> bool:
    """Whether there is one with a window: a browser of the terminal runs no scripts."""
    return sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")
    )


def serve(page: Path) -> None:
    """Serve one page on loopback, on any free port, until Ctrl-C; prints the address first."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.headers.get("Host", "").partition(":")[0] not in (LOOPBACK, "localhost"):
                self.send_error(HTTPStatus.FORBIDDEN)  # a site whose name was made to mean this machine
            elif self.path.partition("?")[0] not in ("/", "/index.html"):
                self.send_error(HTTPStatus.NOT_FOUND)
            else:
                content = page.read_bytes()
                self.send_response(HTTPStatus.OK)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Requests are not printed."""

    with HTTPServer((LOOPBACK, 0), Handler) as server:
        try:
            print(f"{page}: http://{LOOPBACK}:{server.server_port}/ (Ctrl-C ends it)", flush=True)
            server.serve_forever()
        except KeyboardInterrupt:
            return

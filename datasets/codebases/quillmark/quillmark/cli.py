"""The command line: build a site, or build it and check its links."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path

from quillmark import __version__
from quillmark.config import build_date, load_settings
from quillmark.errors import QuillError
from quillmark.site import BuildReport, Site

OK, BROKEN, FAILED = 0, 1, 2


def main(
    argv: Sequence[str] | None = None,
    environ: Mapping[str, str] | None = None,
    today: Callable[[], date] = date.today,
) -> int:
    """Run one command; 0 is fine, 1 means broken links, 2 an error, which is printed in one line."""
    options = _parser().parse_args(argv)
    level = logging.DEBUG if options.verbose else logging.INFO
    logging.basicConfig(level=level, format="%(levelname)s %(name)s: %(message)s", force=True)
    environ = os.environ if environ is None else environ
    try:
        return _COMMANDS[options.command](options, environ, today)
    except QuillError as error:
        print(f"quillmark: {error}", file=sys.stderr)
        return FAILED


def _build(options: argparse.Namespace, environ: Mapping[str, str], today: Callable[[], date]) -> int:
    _site(options, environ, today)
    return OK


def _check(options: argparse.Namespace, environ: Mapping[str, str], today: Callable[[], date]) -> int:
    report = _site(options, environ, today)
    for link in report.broken:
        print(f"{link.page}: {link.target}: {link.reason}")
    return BROKEN if report.broken else OK


def _site(options: argparse.Namespace, environ: Mapping[str, str], today: Callable[[], date]) -> BuildReport:
    root = Path(options.root)
    overrides = {name: getattr(options, name) for name in ("base_url", "output", "drafts", "future")}
    settings = load_settings(root, environ, overrides)
    if options.clean:
        (root / settings.cache).unlink(missing_ok=True)
    sys.path.insert(0, str(root))  # plugins may lie beside the content
    return Site(root, settings, build_date(environ, today)).build()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="quillmark", description="Build a site out of marked-up text.")
    parser.add_argument("--version", action="version", version=f"quillmark {__version__}")
    parser.add_argument("-v", "--verbose", action="store_true", help="say why a page is left out")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, help_text in (("build", "write the site"), ("check", "write the site and list broken links")):
        command = commands.add_parser(name, help=help_text)
        command.add_argument("root", nargs="?", default=".", help="folder of the site")
        command.add_argument("--base-url", help="address the site is served under")
        command.add_argument("--output", help="folder to write to")
        command.add_argument("--drafts", action="store_true", default=None, help="drafts go out too")
        command.add_argument("--future", action="store_true", default=None, help="so do pages of the future")
        command.add_argument("--clean", action="store_true", help="forget what the last build knew")
    return parser


_COMMANDS = {"build": _build, "check": _check}


if __name__ == "__main__":
    sys.exit(main())

"""Debian's Chromium, for tests that open a page; without it, or without playwright, they are skipped."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final

import pytest

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
CHEAP = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-software-rasterizer",
    "--in-process-gpu",
    "--renderer-process-limit=1",
    "--disable-site-isolation-trials",
]
"""It runs as root in containers, hence without its sandbox; and where there is no graphics card, pretending to have one
is a third of its work, and a process for each page a sixth."""


def a_chromium() -> Iterator:
    """One browser."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if PROGRAM is None:
        pytest.skip("no Chromium on the path")
    with api.sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=PROGRAM, args=CHEAP)
        yield chromium
        chromium.close()


_OPEN: Final = ExitStack()
_opened: Final[list[Any]] = []


def the_chromium() -> Any:
    """The browser of this process, which stays open for the tests that follow until one needs none."""
    if not _opened:
        _opened.append(_OPEN.enter_context(contextmanager(a_chromium)()))
    return _opened[0]


def close_chromium() -> None:
    """While a browser runs, no event loop can start in its process."""
    _opened.clear()
    _OPEN.close()


def cases_shown(page) -> list[str]:
    """The cases a report's table shows, in order."""
    return page.locator("tr.case:visible").evaluate_all("rows => rows.map(row => row.dataset.id)")

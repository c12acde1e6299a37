"""Debian's Chromium, for tests that open a page; without it, or without playwright, they are skipped."""

import shutil
from collections.abc import Iterator

import pytest

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def a_chromium() -> Iterator:
    """One browser. It runs as root in containers, hence without its sandbox."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if PROGRAM is None:
        pytest.skip("no Chromium on the path")
    with api.sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=PROGRAM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


def cases_shown(page) -> list[str]:
    """The cases a report's table shows, in order."""
    return page.locator("tr.case:visible").evaluate_all("rows => rows.map(row => row.dataset.id)")

"""A site in a temporary folder, built as often as a test likes."""

from __future__ import annotations

import tempfile
import unittest
from datetime import date
from pathlib import Path

from quillmark.config import load_settings
from quillmark.site import BuildReport, Site

TODAY = date(2026, 3, 2)


class SiteTest(unittest.TestCase):
    """Tests that need files."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()

    def write(self, **files: str) -> None:
        """Files by path; two underscores stand for a slash, and content files end in .md."""
        for name, text in files.items():
            self.put(f"content/{name.replace('__', '/')}.md", text)

    def put(self, path: str, text: str) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def build(self, **overrides: object) -> BuildReport:
        return Site(self.root, load_settings(self.root, {}, overrides), TODAY).build()

    def page(self, path: str) -> str:
        return (self.root / "public" / path).read_text(encoding="utf-8")

"""A site whose pages list dates can be built a second time."""

import tempfile
from datetime import date
from pathlib import Path

from quillmark.config import load_settings
from quillmark.site import Site

PAGE = "---\ntitle: Pottery\nsessions: [2026-09-01, 2026-09-08]\n---\nBring an apron.\n"
LAYOUT = '{% for day in page.meta.sessions %}{{ day | date("%d %B") }};{% endfor %}'

with tempfile.TemporaryDirectory() as folder:
    root = Path(folder)
    for name, text in (("content/pottery.md", PAGE), ("layouts/page.html", LAYOUT)):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    for _ in range(2):
        report = Site(root, load_settings(root, {}), date(2026, 8, 1)).build()
    assert report.reused == ["pottery.md"], report.reused
    shown = (root / "public/pottery.html").read_text(encoding="utf-8")
    assert shown == "01 September;08 September;", shown

"""What a stranger writes into the header of a page never becomes markup."""

import tempfile
from datetime import date
from pathlib import Path

from quillmark.config import load_settings
from quillmark.site import Site

PAGE = '---\ntitle: <b>Fair</b>\ntags: [news, "<img src=x onerror=alert(1)>"]\n---\nSee you there.\n'
LAYOUT = '<h1>{{ page.title }}</h1><p>{{ page.tags | join(" &middot; ") }}</p>'

with tempfile.TemporaryDirectory() as folder:
    root = Path(folder)
    for name, text in (("content/fair.md", PAGE), ("layouts/page.html", LAYOUT)):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    Site(root, load_settings(root, {}), date(2026, 8, 1)).build()
    shown = (root / "public/fair.html").read_text(encoding="utf-8")
    assert "news &middot; " in shown, shown
    assert "&lt;b&gt;" in shown, shown
    assert "<img" not in shown, shown

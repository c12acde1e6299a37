"""A second build shows what changed in a variable of the site, and in a snippet inside a snippet."""

import tempfile
from datetime import date
from pathlib import Path

from quillmark.config import load_settings
from quillmark.site import Site

FILES = {
    "content/install.md": "Download {{ version }}.\n",
    "content/support.md": "!include _parts/contact.md\n",
    "content/_parts/contact.md": "Call us:\n\n!include hours.md\n",
}


def build(root: Path, version: str, hours: str) -> tuple[str, str]:
    """The two pages, built with this version and these opening hours."""
    (root / "quillmark.toml").write_text(f'[variables]\nversion = "{version}"\n', encoding="utf-8")
    (root / "content/_parts/hours.md").write_text(hours, encoding="utf-8")
    Site(root, load_settings(root, {}), date(2026, 8, 1)).build()
    return tuple((root / "public" / name).read_text(encoding="utf-8") for name in ("install.html", "support.html"))


with tempfile.TemporaryDirectory() as folder:
    root = Path(folder)
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    build(root, "3.1", "9 to 17")
    install, _ = build(root, "3.2", "9 to 17")
    _, support = build(root, "3.2", "8 to 16")
    stale = [name for name, seen in (("variable", "3.2" in install), ("snippet", "8 to 16" in support)) if not seen]
    assert not stale, stale
